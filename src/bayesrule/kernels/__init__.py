"""Every compiled loop of the package, and the one decorator that holds all compiler options.

A kernel works on one block of rows, releases the interpreter lock and knows nothing of threads.
:mod:`bayesrule.kernels.blocks` cuts the rows into fixed blocks and may run them on a thread pool;
results are merged by index, so that any number of threads gives the same bits.
"""
