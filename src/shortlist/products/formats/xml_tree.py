"""XML as a plain tree that knows its places, read by a parser that refuses entities."""

from dataclasses import dataclass, field
from typing import Any
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import Locator

from shortlist.source import Source


@dataclass(eq=False)
class Element:
    """An element: tag, attributes, children, place, and its own pieces of text with their first lines."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list["Element"] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in the element, without space around it."""
        return "".join(piece for _, piece in self.pieces).strip()

    def numbered_lines(self) -> list[tuple[int, str]]:
        """Return the text line by line, each with its number in the file."""
        lines: dict[int, str] = {}
        numbered, following = [], 0
        for first, piece in reversed(self.pieces):
            following = first or following - piece.count("\n")
            numbered.append((following, piece))
        for first, piece in reversed(numbered):
            for number, part in enumerate(piece.split("\n"), start=first):
                lines[number] = lines.get(number, "") + part
        return sorted(lines.items())

    def child(self, tag: str) -> "Element | None":
        """Return the first child with a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)


class _TreeBuilder(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.root: Element | None = None
        self._open: list[Element] = []
        self._locator: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802  # the name is SAX's
        self._locator = locator

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802  # the name is SAX's
        line, column = self._place()
        element = Element(name, dict(attrs.items()), line, column)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, _name: str) -> None:  # noqa: N802  # the name is SAX's
        self._open.pop()

    def characters(self, content: str) -> None:
        # Text is handed over where it ends: its first line lies as many line feeds above.
        # Blank text is common and asking for the place slow: 0 stands for a line that follows from the next
        # piece.
        line = 0 if content.isspace() else self._place()[0] - content.count("\n")
        self._open[-1].pieces.append((line, content))

    def _place(self) -> tuple[int, int]:
        assert self._locator is not None, "the parser announces itself first"
        return self._locator.getLineNumber() or 1, (self._locator.getColumnNumber() or 0) + 1


def parse_xml(source: Source) -> Element:
    """Return the root element; nothing outside the file is ever read.

    Raises BadFileError if the text is not well-formed, or declares or uses entities of its own.
    """
    from xml.sax import SAXParseException

    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    builder = _TreeBuilder()
    declaration = source.text.find("?>") + 2 if source.text.lstrip("\ufeff \n\t").startswith("<?xml") else 0
    # The text is decoded already: what the declaration says of its encoding no longer holds.
    blank = "\n" * source.text.count("\n", 0, declaration)
    parser = make_parser()
    parser.setContentHandler(builder)
    builder.setDocumentLocator(parser)
    try:
        # In one piece: a parser that is fed in blocks starts anew on a long comment with every block.
        parser.feed((blank + source.text[declaration:]).encode())
        parser.close()
    except SAXParseException as error:
        raise source.error(
            f"the XML must be well-formed, but: {error.getMessage()}. Correct it there.",
            line=error.getLineNumber(),
            column=(error.getColumnNumber() or 0) + 1,
        ) from None
    except DefusedXmlException:
        raise source.error(
            "the XML must not declare entities or name other files, as they can be misused. Write the text "
            "out."
        ) from None
    assert builder.root is not None, "a well-formed text has a root"
    return builder.root
