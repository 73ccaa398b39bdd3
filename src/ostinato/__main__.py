"""Run the command line when Python is called as `python -m ostinato`."""

from ostinato.faces.cli.main import main

if __name__ == "__main__":
    main()
