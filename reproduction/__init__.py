"""The paper's tables and figures again: ``make paper``; not a part of the package."""
