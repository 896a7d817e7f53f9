// Comparison with a file that a person reviewed.
#pragma once

// Fails the running Check test unless the file tests/golden/`path` holds exactly `text`. With
// GEMMVIEW_ACCEPT set (make accept) the file is rewritten instead, and the test passes.
void golden_check(const char *path, const char *text);
