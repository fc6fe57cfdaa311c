"""An agent with memory in a process of its own: `python -m tests.process_support`.

Reads what to do from standard input as JSON and prints what came of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from langmem_credit.testing import tool_calls

from .graph_support import heard_texts, talk

# A model's step that ends the process.
DEATH = "dies"


@tool
def die() -> str:
    """Dies, in a process that is to die."""
    if os.environ.get("TO_DIE"):
        # Checkpoints are written beside the run; those of the steps before are to be there.
        time.sleep(0.3)
        os._exit(9)
    return "alive"


def read_step(step: Any) -> Any:
    """A step of the script as JSON has it."""
    if step == DEATH:
        return lambda _: die.invoke({})
    return step if isinstance(step, str) else tool_calls(*step)


def main() -> None:
    order = json.loads(sys.stdin.read())
    steps = [read_step(step) for step in order["steps"]]
    with SqliteSaver.from_conn_string(order["path"]) as saver:
        it = talk(*steps, checkpointer=saver, tools=[die], system_prompt="Be kind.")
        for name, *arguments in order["do"]:
            if name == "goes_on":
                it.agent.invoke(None, it.config)
            else:
                getattr(it.person, name)(*arguments)
        print(
            json.dumps(
                {
                    "active": it.active,
                    "waiting": it.waiting,
                    "heard": heard_texts(it.agent),
                    "answers": it.tool_answers,
                    "events": len(it.memory.history(it.agent, it.config)),
                    "systems": it.model.system_texts,
                }
            )
        )


def in_process(path: Path, steps: list[Any], *do: Any, dies: bool = False) -> dict[str, Any]:
    """What an agent in a new process makes of this thread."""
    order = json.dumps({"path": str(path), "steps": steps, "do": do})
    done = subprocess.run(
        [sys.executable, "-m", "tests.process_support"],
        input=order,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "TO_DIE": "1" if dies else ""},
    )
    if dies:
        assert done.returncode == 9, done.stderr
        return {}
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
