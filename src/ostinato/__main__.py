"""`python -m ostinato`: the command line."""

from ostinato.faces.cli.main import main

if __name__ == "__main__":
    main()
