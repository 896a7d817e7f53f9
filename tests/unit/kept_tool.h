// nvdisasm, with what it printed once kept for all suites and for later runs (tests/unit/kept).
#pragma once

// Puts it in front on PATH; where PATH has no nvdisasm everything stays as it is.
void kept_tool_begin(void);
