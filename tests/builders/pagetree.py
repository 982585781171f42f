"""A page as a tree, by the parser of the standard library: what is there without a script."""

from html.parser import HTMLParser

VOID = {"meta", "img", "input", "br", "hr", "link"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children = []

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag, **attributes):
        return [
            node
            for node in self.walk()
            if node.tag == tag and all(node.attributes.get(k) == v for k, v in attributes.items())
        ]

    def one(self, tag, **attributes):
        (found,) = self.all(tag, **attributes)
        return found

    def with_class(self, name):
        return [node for node in self.walk() if name in node.attributes.get("class", "").split()]

    @property
    def text(self):
        parts = [child.text if isinstance(child, Node) else child for child in self.children]
        return "".join(parts)

    @property
    def words(self):
        return " ".join(self.text.split())

    def rows(self):
        """The text of a table's body, row by row; no-break spaces and others become plain ones."""
        return [
            [cell.words for cell in row.children if isinstance(cell, Node)]
            for row in self.one("tbody").all("tr")
        ]


class Parser(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.here = Node("", (), None)

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        node = Node(tag, attrs, self.here)
        self.here.children.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag, attrs):
        self.here.children.append(Node(tag, attrs, self.here))

    def handle_endtag(self, tag):
        assert tag == self.here.tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.children.append(data)


def parse(page):
    """Parse a page whose every element must be closed where it was opened."""
    parser = Parser()
    parser.feed(page)
    parser.close()
    assert parser.here is parser.root, f"<{parser.here.tag}> is not closed"
    return parser.root
