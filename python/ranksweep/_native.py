"""The evaluator's own code, which comes in a wheel of its own."""

try:
    import numpy
    import ranksweep_native as native
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error.name} is not installed: `pip install 'ranksweep[arrays]'`", name=error.name) from None

__all__ = ["native", "numpy"]
