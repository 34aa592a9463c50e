"""A tool that stores files, beside mcp_task.py."""

from mcp_task import file, preview, progress, tool


@tool
def handler(arguments, event):
    preview(event, file(event, "Bild “1”.png", b"png", "image/png"))
    progress(event, "Renders")
    film = file(event, "film.bin", lambda: (b"%7d\n" % n * 125_000 for n in range(12)))
    try:
        file(event, "a/b", "x")
    except ValueError as error:
        return {"content": [film, {"type": "text", "text": str(error)}]}
