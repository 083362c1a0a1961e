"""The weather tool: an MCP server over stdio."""

import os
import sys

from weather.server import create_server
from weather.settings import SettingsError, read_settings


def main() -> int:
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        print(f"weather-tool: {error}", file=sys.stderr)
        return 2
    create_server(settings).run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
