"""The smallest Excel workbooks that are valid, made by hand."""

import io
import zipfile
from collections.abc import Sequence
from html import escape
from typing import Any

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(rows: Sequence[Sequence[Any]], sheets: Sequence[str] = ("Sheet1",)) -> bytes:
    """Return a workbook whose first sheet has these cells; None and NaN leave a cell out."""
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{TYPE}.worksheet+xml"/>'
            for k in numbers
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{LINK}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINK}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{k}" r:id="r{k}"/>'
            for k, name in zip(numbers, sheets, strict=True)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{k}" Type="{LINK}/worksheet" Target="worksheets/sheet{k}.xml"/>'
            for k in numbers
        )
        + "</Relationships>",
    }
    for k in numbers:
        body = "".join(_row(at, row) for at, row in enumerate(rows if k == 1 else (), 1))
        parts[f"xl/worksheets/sheet{k}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def _row(at: int, row: Sequence[Any]) -> str:
    cells = "".join(
        f'<c r="{chr(65 + column)}{at}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        if isinstance(value, str)
        else f'<c r="{chr(65 + column)}{at}"><v>{value}</v></c>'
        for column, value in enumerate(row)
        if value is not None and value == value  # noqa: PLR0124  # NaN
    )
    return f'<row r="{at}">{cells}</row>'
