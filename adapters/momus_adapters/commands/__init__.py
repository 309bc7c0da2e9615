"""Commands that are plug-ins of the group ``momus.commands``, one module each: they import their rooms when called."""
