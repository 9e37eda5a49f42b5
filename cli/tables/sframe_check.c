/* sframe_check.c - the results of the tests of an SFrame section, as text or
 * JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/args/status.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/tables/sframe.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_check.h"
#include "symbolize/sframe/sframe_file.h"

/* Findings of each test in text. */
#define SHOWN 8
/* Findings of each test in JSON. */
#define KEPT 100000

static const char *sframe_check_word(const struct sframe_report *r,
				     unsigned int t)
{
	if (!r->asked[t] && !r->found[t])
		return "-";
	if (!r->found[t])
		return "ok";
	return sframe_tests[t].note ? "note" : "ERROR";
}

static uint64_t sframe_check_count_errors(const struct sframe_report *r)
{
	uint64_t n = 0;

	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		n += sframe_tests[t].note ? 0 : r->found[t];
	return n;
}

static void sframe_check_put_report(const char *path,
				    const struct sframe_file *f,
				    const struct sframe_report *r)
{
	safe_text_clean(stdout, path, strlen(path));
	printf(": SFrame version %u for %s, %" PRIu32 " functions\n",
	       f->sf.head.version, f->sf.machine->name, f->sf.head.funcs);
	printf("\n  %-10s  %-6s %12s %12s\n", "test", "", "looked at", "found");
	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		printf("  %-10s  %-6s %12" PRIu64 " %12" PRIu64 " %s\n",
		       sframe_tests[t].name, sframe_check_word(r, t),
		       r->asked[t], r->found[t], sframe_tests[t].unit);
	if (r->no_code)
		puts("\nno code to compare with: a debug file");
	if (r->no_eh_frame)
		puts("\nno .eh_frame to compare with");
	for (size_t i = 0; i < r->n; i++) {
		const struct sframe_finding *bad = &r->finding[i];
		const struct sframe_test_info *t = &sframe_tests[bad->test];
		bool last = i + 1 == r->n || bad[1].test != bad->test;

		if (!i || bad[-1].test != bad->test)
			printf("\n%s: not so: %s\n", t->name, t->summary);
		if (bad->end > bad->start + 1)
			printf("  0x%" PRIx64 "..0x%" PRIx64 "  ", bad->start,
			       bad->end - 1);
		else if (bad->end)
			printf("  0x%" PRIx64 "  ", bad->start);
		else
			fputs("  ", stdout);
		safe_text_clean(stdout, bad->text, strlen(bad->text));
		putchar('\n');
		if (last && r->kept[bad->test] == SHOWN &&
		    r->found[bad->test] > SHOWN)
			printf("  ... %" PRIu64 " %s in all\n",
			       r->found[bad->test], t->unit);
	}
}

int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err)
{
	struct sframe_report r = { .limit = json ? KEPT : SHOWN };
	int status = -1;

	if (!sframe_check(ef, f, &r, err)) {
		if (json) {
			struct json j;

			json_answer(&j, stdout, JSON_COMPACT);
			sframe_head_json(&j, "section", f);
			json_uint(&j, "errors", sframe_check_count_errors(&r));
			json_bool(&j, "has_code", !r.no_code);
			json_bool(&j, "has_eh_frame", !r.no_eh_frame);
			json_array(&j, "tests");
			for (unsigned int t = 0; t < SFRAME_TESTS; t++) {
				const struct sframe_test_info *info =
					&sframe_tests[t];

				json_object(&j, NULL);
				json_text(&j, "test", info->name);
				json_text(&j, "summary", info->summary);
				json_bool(&j, "error", !info->note);
				json_text(&j, "unit", info->unit);
				json_uint(&j, "looked_at", r.asked[t]);
				json_uint(&j, "found", r.found[t]);
				json_end(&j);
			}
			json_end(&j);
			json_array(&j, "findings");
			for (size_t i = 0; i < r.n; i++) {
				const struct sframe_finding *item =
					&r.finding[i];

				json_object(&j, NULL);
				json_text(&j, "test",
					  sframe_tests[item->test].name);
				json_hex(&j, "start", item->start);
				json_hex(&j, "end", item->end);
				json_text(&j, "text", item->text);
				json_end(&j);
			}
			json_end(&j);
			json_finish(&j);
		} else
			sframe_check_put_report(ef->path, f, &r);
		status =
			sframe_check_count_errors(&r) ? STATUS_LOSS : STATUS_OK;
	}
	sframe_report_release(&r);
	return status;
}
