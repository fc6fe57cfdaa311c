"""Opens an index folder in a process of its own: `python chroma_probe.py FOLDER [COLLECTION]`.

A damaged index file can kill the process that reads it. This one may be killed; its exit status
tells the other one. It stands alone, so that it starts wherever Chroma does.
"""

from __future__ import annotations

import sys


def probe(folder: str, name: str = "") -> None:
    """Opens the folder, and reads the collection where one is named; raises or dies on damage."""
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import NotFoundError

    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    if not name:
        client.count_collections()
        return
    try:
        collection = client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return
    some = collection.get(include=["embeddings"], limit=1)
    if len(some["ids"]):
        found = collection.query(query_embeddings=[some["embeddings"][0]], n_results=1, include=[])
        if not found["ids"][0]:
            raise ValueError("the index finds nothing")


if __name__ == "__main__":
    probe(*sys.argv[1:3])
