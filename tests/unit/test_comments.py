"""What tests/comments.py takes for a comment."""

from tests.comments import of_cpp, of_cython, of_python

CPP = """\
// A list
// of names.
int names;  // of all people
int more;   // of all animals

}  // namespace spmcompat
"""

CYTHON = '''\
"""A module."""

# One comment,
# two lines.
cdef extern from *:
    """
    // About C++.
    int add(int a, int b) { return a + b; }
    """
    int add(int a, int b)

NAME = "# no comment"
TEXT = """no docstring"""

def double(int a):
    """Return twice the number."""
    return add(a, a)  # after code
'''


def test_a_comment_after_code_stands_for_itself() -> None:
    assert list(of_cpp(CPP)) == [
        (1, "A list of names."),
        (3, "of all people"),
        (4, "of all animals"),
    ]


def test_cython() -> None:
    assert sorted(of_cython(CYTHON)) == [
        (1, "A module."),
        (3, "One comment, two lines."),
        (7, "About C++."),
        (16, "Return twice the number."),
        (17, "after code"),
    ]


def test_python() -> None:
    text = '"""A module."""\n\na = 1  # one\nb = 2  # two\nc = 3  # noqa: X\n'
    assert sorted(of_python(text)) == [(1, "A module."), (3, "one"), (4, "two")]
