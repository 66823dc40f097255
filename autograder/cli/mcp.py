"""`gpubook mcp`: the book's planners, readers, formulas and tables for agents, by the Model Context Protocol."""

import click


@click.command()
def mcp() -> None:
    """Serve the planners, readers, formulas and tables to agents.

    By the Model Context Protocol, over standard input and output: register `gpubook mcp` as a server in the agent's
    settings. Its tools are plan, serve, read, formulas, evaluate, specs, fidelity and limits; every answer has its
    sources. It needs the extra mcp: pip install "gpubook[mcp]".
    """
    try:
        from .mcp_server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise click.ClickException('the extra mcp is not installed; expected: pip install "gpubook[mcp]"') from None
    server().run()
