/* marker.h - what programs write to trace_marker to mark slices: atrace,
 * systrace, Chromium and others. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the text, without a final 0. */
struct marker_part {
	const char *p;
	size_t n;
};

struct marker {
	char letter; /* B, E, S, F, G, H, C, I, N */
	int64_t pid; /* of the process; 0: not said */
	/* empty: it has none. The cookie of a counter is its value. */
	struct marker_part track, name, cookie;
};

/* Parses "B|PID|NAME", "E", "E|PID", "S|PID|NAME|COOKIE" and its end F,
 * "G|PID|TRACK|NAME|COOKIE" and its end "H|PID|TRACK|COOKIE",
 * "C|PID|NAME|VALUE", "I|PID|NAME", "N|PID|TRACK|NAME"; a name may have '|' in
 * it. Returns false for other texts. *out borrows from text. */
bool marker_parse(const char *text, struct marker *out);
