"""Where everything is kept: one contract, two stores."""
