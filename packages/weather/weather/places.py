"""How a location is written: a name with optional qualifiers, or coordinates."""

import re
from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError

from .reports import Place

_coordinates = re.compile(r"^\s*(-?\d{1,2}(?:\.\d+)?)\s*[,;]\s*(-?\d{1,3}(?:\.\d+)?)\s*$")


@dataclass(frozen=True)
class PlaceName:
    """`Paris, Texas, US` is the name `Paris` with the qualifiers `Texas` and `US`."""

    name: str
    qualifiers: tuple[str, ...]


def parse_location(location: str) -> Place | PlaceName:
    found = _coordinates.match(location)
    if found:
        latitude, longitude = float(found[1]), float(found[2])
        if abs(latitude) > 90 or abs(longitude) > 180:
            raise ToolError(f'"{location}" is no place on earth: latitude is within ±90, longitude within ±180')
        return Place(name=f"{latitude:g}, {longitude:g}", latitude=latitude, longitude=longitude)
    name, *qualifiers = [part.strip() for part in location.split(",") if part.strip()] or [""]
    if not name:
        raise ToolError('The location is empty: name a place such as "Berlin", "Paris, FR" or "52.52, 13.41"')
    return PlaceName(name, tuple(qualifiers))


def not_found(location: str, namesakes: list[str] | None = None) -> ToolError:
    """`namesakes` are places of that name elsewhere."""
    if namesakes:
        return ToolError(f'No place is called "{location}", but there are: {"; ".join(namesakes)}')
    return ToolError(f'No place is called "{location}": check the spelling, or give coordinates such as "52.52, 13.41"')
