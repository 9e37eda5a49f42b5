/* sframe_check.c - what the tests of an SFrame section found, as text or
 * JSON. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "cli/tables/sframe.h"
#include "stitch/base/err.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_check.h"
#include "symbolize/sframe/sframe_file.h"

/* Of each test, on a screen. */
#define SHOWN 8
/* In JSON, for scripts. */
#define KEPT 100000

static const char *verdict(const struct sframe_report *r, unsigned int t)
{
	if (!r->asked[t] && !r->found[t])
		return "-";
	if (!r->found[t])
		return "ok";
	return sframe_tests[t].note ? "note" : "ERROR";
}

static uint64_t errors(const struct sframe_report *r)
{
	uint64_t n = 0;

	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		n += sframe_tests[t].note ? 0 : r->found[t];
	return n;
}

static void text_finding(const struct sframe_finding *f)
{
	if (f->end > f->start + 1)
		printf("  0x%" PRIx64 "..0x%" PRIx64 "  ", f->start,
		       f->end - 1);
	else if (f->end)
		printf("  0x%" PRIx64 "  ", f->start);
	else
		fputs("  ", stdout);
	safe_text_clean(stdout, f->text, strlen(f->text), NULL);
	putchar('\n');
}

static void text_findings(const struct sframe_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct sframe_finding *f = &r->finding[i];
		const struct sframe_test_info *t = &sframe_tests[f->test];
		bool last = i + 1 == r->n || f[1].test != f->test;

		if (!i || f[-1].test != f->test)
			printf("\n%s: not so: %s\n", t->name, t->summary);
		text_finding(f);
		if (last && r->kept[f->test] == SHOWN &&
		    r->found[f->test] > SHOWN)
			printf("  ... %" PRIu64 " %s in all\n",
			       r->found[f->test], t->unit);
	}
}

static void text_report(const char *path, const struct sframe_file *f,
			const struct sframe_report *r)
{
	safe_text_clean(stdout, path, strlen(path), NULL);
	printf(": SFrame version %u for %s, %" PRIu32 " functions\n",
	       f->sf.head.version, sframe_abi_name(&f->sf), f->sf.head.funcs);
	printf("\n  %-10s  %-6s %12s %12s\n", "test", "", "looked at", "found");
	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		printf("  %-10s  %-6s %12" PRIu64 " %12" PRIu64 " %s\n",
		       sframe_tests[t].name, verdict(r, t), r->asked[t],
		       r->found[t], sframe_tests[t].unit);
	if (r->no_code)
		puts("\nno code to compare with: a debug file");
	if (r->no_eh_frame)
		puts("\nno .eh_frame to compare with");
	text_findings(r);
}

static struct json_object *json_tests(const struct sframe_report *r)
{
	struct json_object *all = json_object_new_array();

	for (unsigned int t = 0; t < SFRAME_TESTS; t++) {
		const struct sframe_test_info *info = &sframe_tests[t];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "test",
				       json_object_new_string(info->name));
		json_object_object_add(o, "summary",
				       json_object_new_string(info->summary));
		json_object_object_add(o, "error",
				       json_object_new_boolean(!info->note));
		json_object_object_add(o, "unit",
				       json_object_new_string(info->unit));
		json_object_object_add(
			o, "looked_at",
			json_object_new_int64((int64_t)r->asked[t]));
		json_object_object_add(
			o, "found",
			json_object_new_int64((int64_t)r->found[t]));
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *json_findings(const struct sframe_report *r)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < r->n; i++) {
		const struct sframe_finding *f = &r->finding[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(
			o, "test",
			json_object_new_string(sframe_tests[f->test].name));
		json_object_object_add(o, "start", sframe_json_hex(f->start));
		json_object_object_add(o, "end", sframe_json_hex(f->end));
		json_object_object_add(
			o, "text", output_json_text(f->text, strlen(f->text)));
		json_object_array_add(all, o);
	}
	return all;
}

static void json_report(const struct sframe_file *f,
			const struct sframe_report *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "section", sframe_head_json(f));
	json_object_object_add(o, "errors",
			       json_object_new_int64((int64_t)errors(r)));
	json_object_object_add(o, "has_code",
			       json_object_new_boolean(!r->no_code));
	json_object_object_add(o, "has_eh_frame",
			       json_object_new_boolean(!r->no_eh_frame));
	json_object_object_add(o, "tests", json_tests(r));
	json_object_object_add(o, "findings", json_findings(r));
	output_json_line(o);
	json_object_put(o);
}

int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err)
{
	struct sframe_report r = { .limit = json ? KEPT : SHOWN };
	int status = -1;

	if (!sframe_check(ef, f, &r, err)) {
		if (json)
			json_report(f, &r);
		else
			text_report(ef->path, f, &r);
		status = errors(&r) ? STATUS_LOSS : STATUS_OK;
	}
	sframe_report_release(&r);
	return status;
}
