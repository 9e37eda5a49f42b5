/* redact_columns.c - the rule of each column in a redacted copy. */
#include <stddef.h>

#include "schema/read/redact.h"

/* The image of a row. */
#define OWN "image"
#define OF_FRAME "(SELECT f.image FROM frame f WHERE f.id = frame)"

/* Names of events, fields and ftrace buffers stay, because queries need them.
 * Columns that hold only numbers are not listed. */
const struct redact_column redact_columns[] = {
	{ "word", "kind", REDACT_KEEP, NULL },
	{ "word", "name", REDACT_KEEP, NULL },
	{ "meta", "key", REDACT_KEEP, NULL },
	{ "meta", "value", REDACT_KEEP, NULL }, /* ours, or gone */
	{ "capture", "path", REDACT_PATH, NULL },
	{ "capture", "format", REDACT_KEEP, NULL },
	{ "capture", "host", REDACT_HOST, NULL },
	{ "capture", "release", REDACT_KEEP, NULL },
	{ "capture", "version", REDACT_KEEP, NULL },
	{ "capture", "arch", REDACT_KEEP, NULL },
	{ "capture", "cmdline", REDACT_GONE, NULL },
	{ "capture", "clock", REDACT_KEEP, NULL },
	{ "capture", "note", REDACT_KEEP, NULL },
	{ "capture", "align", REDACT_KEEP, NULL },
	{ "comm", "name", REDACT_COMM, NULL },
	{ "comm", "label", REDACT_GONE, NULL },
	{ "image", "build_id", REDACT_GONE, "id" },
	{ "image", "file", REDACT_GONE,
	  NULL }, /* path on the machine that named it */
	{ "image", "status", REDACT_KEEP, NULL },
	{ "image", "identity", REDACT_KEEP, NULL },
	{ "internal_image_section", "file", REDACT_KEEP,
	  NULL }, /* rows are gone */
	{ "internal_image_section", "name", REDACT_KEEP, NULL },
	{ "internal_user_trust", "judged", REDACT_KEEP, NULL },
	{ "event_type", "name", REDACT_KEEP, NULL },
	{ "event_type", "kind", REDACT_KEEP, NULL },
	{ "event_type", "format", REDACT_KEEP, NULL },
	{ "event_type", "fields", REDACT_KEEP, NULL },
	{ "event_type", "buffer", REDACT_KEEP, NULL },
	{ "event_type", "how", REDACT_KEEP, NULL },
	{ "event_type", "unit", REDACT_KEEP, NULL },
	{ "payload", "data", REDACT_KEEP, NULL }, /* rows are gone */
	{ "sample_extra", "name", REDACT_KEEP, NULL },
	{ "sample_extra", "value", REDACT_TEXT, NULL },
	{ "frame", "file", REDACT_PATH, OWN },
	{ "stack", "hash", REDACT_GONE, NULL }, /* of paths and build-ids */
	{ "internal_label", "name", REDACT_KEEP, NULL }, /* made again */
	{ "raw_chain", "addrs", REDACT_KEEP, NULL },
	{ "symbol", "name", REDACT_NAME, OWN },
	{ "symbol", "raw_name", REDACT_GONE, OWN },
	{ "symbol", "how", REDACT_KEEP, NULL },
	{ "jit_code", "bytes", REDACT_KEEP, NULL }, /* rows are gone */
	{ "jit_line", "file", REDACT_PATH, OWN },
	{ "inline_frame", "name", REDACT_NAME, OF_FRAME },
	{ "inline_frame", "file", REDACT_PATH, OF_FRAME },
	{ "cookies", "layout", REDACT_KEEP, NULL },
	{ "cookies", "reason", REDACT_KEEP, NULL },
	{ "internal_rule", "name", REDACT_KEEP, NULL },
	{ "internal_rule", "proves", REDACT_KEEP, NULL },
	{ "loss", "what", REDACT_KEEP, NULL },
	{ "ordering", "what", REDACT_KEEP, NULL },
	{ "ordering", "detail", REDACT_GONE, NULL },
	{ "damage", "kind", REDACT_KEEP, NULL },
	{ "damage", "what", REDACT_KEEP, NULL },
	{ "damage", "detail", REDACT_GONE, NULL },
	/* last */
	{ "image", "path", REDACT_PATH, "id" },
	{ NULL, NULL, REDACT_KEEP, NULL },
};
