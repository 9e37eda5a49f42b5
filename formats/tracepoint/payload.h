/* payload.h - makes the text of a tracepoint's payload without its capture.
 *
 * A database stores the format of each event, and either the bytes or the
 * fields of each sample; from both follows the text that the kernel would
 * print. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct field_def;
struct payload;

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
/* The fields in order, borrowed for the life of pl. */
const struct field_def *payload_defs(const struct payload *pl, size_t *n);
/* Sets field[] from the bytes, one for each def; borrowed until the next call.
 */
void payload_fields(struct payload *pl, const void *raw, size_t len,
		    struct field *field);
/* By what the addresses of functions are named from now on, see tracepoint.h.
 */
struct tp_symbol;
typedef bool payload_symbol_fn(void *of, uint64_t addr, struct tp_symbol *out);
void payload_name_by(struct payload *pl, payload_symbol_fn *fn, void *of);
/* Makes the text from the bytes. Returns its length: 0 if that is not possible;
 * size > 0. */
size_t payload_text(struct payload *pl, const void *raw, size_t len, char *buf,
		    size_t size);
/* Makes the text from one field for each def. */
size_t payload_fields_text(struct payload *pl, const struct field *field,
			   char *buf, size_t size);

/* tp_print_value_of(): the text of one value of the i-th field. */
const char *payload_value_text(struct payload *pl, size_t i,
			       const struct field *f, char *buf, size_t size);

/* Returns why the text has fields by name, tp_print_problem(); "": it has not.
 */
const char *payload_problem(struct payload *pl);

/* For a perf.data file, see make.c: the format, which the caller frees; and a
 * payload with this id from its bytes or from fields, borrowed until the next
 * call. */
char *payload_perf_format(const struct payload *pl, const char *name,
			  uint32_t id);
const void *payload_perf(struct payload *pl, const void *raw, size_t raw_len,
			 uint32_t id, uint32_t tid, size_t *len);
const void *payload_fields_perf(struct payload *pl, const struct field *field,
				uint32_t id, uint32_t tid, size_t *len);
