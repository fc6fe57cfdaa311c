"""Memory for LangGraph agents that credits only what the person said."""
