/* words.c - the tables of words and of rules. */
#include "schema/write/writing.h"
#include "stitch/audit/callsite.h"
#include "stitch/audit/rules.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "stitch/verdict.h"

/* Fills the table rule. */
static int words_rules(struct maker *mk, struct err *err)
{
	return PUT_EACH(mk, "INSERT INTO internal_rule VALUES(?1,?2,?3,?4)",
			err, RULES, i, VALUE_OF(i + 1),
			value_text(rules[i].name), value_text(rules[i].proves),
			VALUE_OF(!rules[i].harmless));
}

int words_write(struct maker *mk, struct err *err)
{
	static const struct {
		const char *kind;
		unsigned int first;
		const char *(*name)(unsigned int v);
	} lists[] = {
		{ "request", 1, request_verdict_name },
		{ "chain", 1, chain_verdict_name },
		{ "confidence", 1, confidence_name },
		{ "quality", 1, quality_name },
		{ "end", 1, request_end_name },
		{ "as_perf", 1, as_perf_name },
		{ "gap", 1, gap_verdict_name },
		{ "unwind", 1, unwind_end_name },
		{ "image", 0, image_kind_name },
		{ "callsite", 1, callsite_kind_name },
		{ "link", 1, callsite_link_name },
		{ "judged", 1, judged_name },
		{ "start", 1, thread_start_name },
	};
	sqlite3_stmt *st =
		maker_prepare(mk, "INSERT INTO word VALUES(?1,?2,?3)", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (unsigned int v = lists[i].first; !rc; v++) {
			const char *name = lists[i].name(v);

			if (!name)
				break;
			rc = PUT_VALUES(mk, st, err, value_text(lists[i].kind),
					VALUE_OF(v), value_text(name));
		}
	sqlite3_finalize(st);
	return rc ? -1 : words_rules(mk, err);
}
