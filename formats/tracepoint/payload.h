/* payload.h - the payloads of a tracepoint without its capture.
 *
 * A database stores the format of each event, and either the bytes or the
 * fields of each sample; from both follows the text that the kernel would
 * print. */
#pragma once
#include "formats/tracepoint/tracepoint.h"

/* All that tp_print() and the like need. */
struct payload {
	struct tp tp;
	struct tp_format fmt;
	struct arena arena; /* strings of fmt */
};

/* What a payload was recorded on. */
struct payload_machine {
	bool big;	     /* numbers are big-endian */
	bool long32;	     /* it has 32 bits */
	const char *release; /* of its kernel; NULL: not known */
};

/* Returns NULL if the text is not a field format. */
struct payload *payload_new(const char *format,
			    const struct payload_machine *on);
void payload_free(struct payload *pl);
