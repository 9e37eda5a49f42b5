/* rules.c - what must not happen in a trace: a table of rules about cause and
 * effect. */
#include "stitch/rules.h"

#include <stdlib.h>

#include "stitch/facts.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/record.h"
#include "stitch/stitch.h"

struct audit {
	struct facts *out;
	struct losses *losses;
};

const struct rule rules[] = { { .name = NULL } };

struct audit *audit_new(struct facts *out, struct losses *ls)
{
	struct audit *au = mem_new(1, sizeof(*au));

	au->out = out;
	au->losses = ls;
	return au;
}

void audit_free(struct audit *au)
{
	free(au);
}

void audit_source(struct audit *au, uint16_t source,
		  const struct source_info *info)
{
	(void)au;
	(void)source;
	(void)info;
}

void audit_record(struct audit *au, const struct audit_in *in)
{
	for (const struct rule *r = rules; r->name; r++)
		r->fn(au, in);
}

void audit_end(struct audit *au)
{
	(void)au;
}
