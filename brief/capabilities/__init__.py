"""The one declaration: every capability once. Routes, OpenAPI and commands are made from `table.CAPABILITIES`."""
