"""``python -m spmcompat COMMAND``."""

import sys


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    if arguments[:1] == ["train"]:
        from spmcompat.cli.train import main as train_main  # noqa: PLC0415

        return train_main(arguments[1:])
    if arguments[:1] == ["evaluate"]:
        from spmcompat.cli.evaluate import main as evaluate_main  # noqa: PLC0415

        return evaluate_main(arguments[1:])
    if arguments[:1] == ["--version"]:
        from spmcompat import __version__  # noqa: PLC0415

        print(f"spmcompat {__version__}")
        return 0
    print("usage: python -m spmcompat train --input=FILE --model_prefix=NAME [flags]")
    print("       python -m spmcompat train --help")
    print("       python -m spmcompat evaluate MODEL... --text FILE [--gold FILE]")
    return 0 if arguments[:1] in (["--help"], ["-h"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
