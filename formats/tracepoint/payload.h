/* payload.h - the text of a tracepoint's payload, away from its capture.
 *
 * A database keeps the format of each event, and of each sample either the
 * bytes or the fields; from both the text is made that the kernel would
 * print. */
#ifndef FORMATS_TRACEPOINT_PAYLOAD_H
#define FORMATS_TRACEPOINT_PAYLOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct field_def;
struct payload;

/* NULL when the text is no field format. big: the payload's numbers are
 * big-endian; long32: of a machine of 32 bits. */
struct payload *payload_new(const char *format, bool big, bool long32);
void payload_free(struct payload *pl);
/* The fields in their order; borrowed for the life of pl. */
const struct field_def *payload_defs(const struct payload *pl, size_t *n);
/* From the bytes. buf becomes "" when nothing can be said; size > 0. */
void payload_text(struct payload *pl, const void *raw, size_t len, char *buf,
		  size_t size);
/* From one field for each def. */
void payload_fields_text(struct payload *pl, const struct field *field,
			 char *buf, size_t size);

/* For a perf.data file: see make.c. The format, which is the caller's to
 * free(); and a payload under this id, from its bytes, or from fields;
 * borrowed until the next call. */
char *payload_perf_format(const struct payload *pl, const char *name,
			  uint32_t id);
const void *payload_perf(struct payload *pl, const void *raw, size_t raw_len,
			 uint32_t id, uint32_t tid, size_t *len);
const void *payload_fields_perf(struct payload *pl, const struct field *field,
				uint32_t id, uint32_t tid, size_t *len);
#endif
