#!/bin/sh
# Right kernels pass, wrong ones are caught, equal ones come out equal, a crash is known for one.
exec "${GEMMVIEW:-build/gemmview}" selftest --gpu
