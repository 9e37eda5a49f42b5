/* tables.c - the fixed tables that are filled in bulk. */
#include "schema/write/labels.h"
#include "schema/write/writing.h"
#include "stitch/audit/callsite.h"
#include "stitch/audit/rules.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "stitch/verdict.h"

static const struct bulk_shape shapes[T_FIXED] = {
	[T_PROCESS] = { "process", NULL, 6, true, PAGES_NONE },
	[T_THREAD] = { "thread", NULL, 5, true, PAGES_NONE },
	[T_COMM] = { "comm", NULL, 6, true, PAGES_NONE },
	[T_IMAGE] = { "image",
		      "id,kind,path,build_id,maj,min,ino,ino_gen,start,len,"
		      "t0,process",
		      12, true, PAGES_NONE },
	[T_MAPPING] = { "mapping", NULL, 10, true, PAGES_NEAR },
	[T_EVENT] = { "event", NULL, 11, true, PAGES_ID },
	[T_PAYLOAD] = { "payload", NULL, 2, true, PAGES_ID },
	[T_EXTRA] = { "sample_extra", NULL, 3, false, PAGES_ROWID },
	[T_BRANCH] = { "branch", NULL, 5, false, PAGES_ROWID },
	[T_FRAME] = { "frame", NULL, 9, true, PAGES_ID },
	[T_NAMED] = { "frame",
		      "id,image,off,flags,vaddr,symbol,symoff,file,line", 9,
		      false, PAGES_NONE },
	[T_STACK] = { "stack", NULL, 5, true, PAGES_ID },
	[T_PATH] = { "stack_path", NULL, 3, false, PAGES_PAIR },
	[T_RAW] = { "raw_chain", NULL, 5, true, PAGES_ID },
	[T_REQUEST] = { "request", NULL, 16, false, PAGES_NEAR },
	[T_CHAIN] = { "chain", NULL, 14, true, PAGES_NEAR },
	[T_CHAIN_COPY] = { "chain_copy", NULL, 4, false, PAGES_ROWID },
	[T_LOSS] = { "loss", NULL, 10, true, PAGES_NONE },
	[T_ORDERING] = { "ordering",
			 "capture,what,time_ns,by_ns,cpu,n,off,detail", 8,
			 false, PAGES_NONE },
	[T_DAMAGE] = { "damage", "capture,kind,what,off,len,n,detail", 7, false,
		       PAGES_NONE },
	[T_SYMBOL] = { "symbol", NULL, 8, true, PAGES_NONE },
	[T_INLINE] = { "inline_frame", NULL, 5, false, PAGES_NONE },
	[T_JIT_CODE] = { "jit_code", NULL, 4, true, PAGES_NONE },
	[T_JIT_LINE] = { "jit_line", NULL, 4, false, PAGES_NONE },
	[T_GROUP] = { "sample_group", NULL, 8, false, PAGES_ROWID },
	[T_FINDING] = { "internal_finding",
			"rule,capture,time_ns,since_ns,cpu,thread,event,loss,n",
			9, false, PAGES_NONE },
	[T_GAP] = { "cookie_gap", "capture,cpu,first,n,t0,t1,verdict,loss", 8,
		    false, PAGES_NONE },
	[T_COUNTER] = { "cookie_cpu", NULL, 10, false, PAGES_NONE },
	[T_STACK_CHECK] = { "internal_stack_check", NULL, 8, true, PAGES_ID },
	[T_JUDGED] = { "internal_judged", NULL, 4, true, PAGES_ID },
	[T_LABEL] = { "internal_label", NULL, 2, true, PAGES_ID },
	[T_CALLSITE] = { "internal_callsite", NULL, 4, true, PAGES_NONE },
	[T_CALLSITE_LINK] = { "internal_callsite_link", NULL, 3, false,
			      PAGES_NONE },
	[T_END] = { "internal_end", NULL, 5, false, PAGES_NONE },
	[T_USER_TRUST] = { "internal_user_trust", NULL, 6, false, PAGES_NONE },
	[T_DEFERRAL] = { "internal_deferral", NULL, 4, false, PAGES_NONE },
	[T_SEGMENT] = { "internal_segment", NULL, 5, false, PAGES_NONE },
	[T_COOKIES] = { "cookies", NULL, 6, false, PAGES_NONE },
};

void tables_new(struct maker *mk)
{
	for (unsigned int i = 0; i < T_FIXED; i++)
		maker_table_add(mk, &shapes[i]);
	mk->table[T_NAMED]->replaces = true;
}

struct value value_known(bool known, int64_t v)
{
	return (struct value){ .kind = known ? VALUE_INT : VALUE_NULL,
			       .num = v };
}

struct value value_text(const char *text)
{
	return (struct value){ .kind = text ? VALUE_TEXT : VALUE_NULL,
			       .text = text,
			       .len = text ? strlen(text) : 0 };
}

struct value value_blob(const void *p, size_t n)
{
	return (struct value){ .kind = p ? VALUE_BLOB : VALUE_NULL,
			       .text = p,
			       .len = p ? n : 0 };
}

int tables_put(struct maker *mk, unsigned int table, const struct value *v,
	       size_t n, struct err *err)
{
	const bool key = bulk_has_key(&mk->table[table]->shape);
	size_t bytes = 0;

	for (size_t i = key; i < n; i++)
		bytes += v[i].len;
	struct block *b = maker_packed(mk, table, bytes, err);

	if (!b)
		return -1;
	struct packing p =
		packing_begin(b, key ? (uint32_t)v[0].num : 0, bytes);

	for (size_t i = key; i < n; i++) {
		if (v[i].kind == VALUE_INT)
			packing_int(&p, v[i].num);
		else if (v[i].kind == VALUE_REAL)
			packing_int(&p, (int64_t)v[i].real);
		else if (v[i].kind == VALUE_TEXT)
			packing_bytes(&p, RECORD_TEXT, v[i].text,
				      strlen(v[i].text));
		else if (v[i].kind == VALUE_BLOB && v[i].text)
			packing_bytes(&p, RECORD_BLOB, v[i].text, v[i].len);
		else
			packing_null(&p);
	}
	packing_end(&p);
	return 0;
}

int tables_run(struct maker *mk, sqlite3_stmt *st, const struct value *v,
	       size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		rows_bind_value(st, (int)i + 1, &v[i]);
	return db_step(mk->db, st, err);
}

int tables_run_once(struct maker *mk, const char *sql, const struct value *v,
		    size_t n, struct err *err)
{
	sqlite3_stmt *st = maker_prepare(mk, sql, err);
	int rc = st ? tables_run(mk, st, v, n, err) : -1;

	sqlite3_finalize(st);
	return rc;
}

int tables_link(struct maker *mk, struct err *err)
{
	if (!mk->is_new)
		return 0;
	return frame_names_write(mk, mk->w->naming_ended, err)
		       ?: link_pages(mk, err);
}

#define OPEN_MAX ((size_t)1 << 20)

int tables_tidy(struct maker *mk, struct err *err)
{
	size_t open = 0;

	for (size_t i = 0; i < mk->n_table; i++)
		if (mk->table[i]->open)
			open += mk->table[i]->open->size;
	if (open < OPEN_MAX)
		return 0;
	for (size_t i = T_FIXED; i < mk->n_table; i++)
		if (maker_submit(mk, mk->table[i], err))
			return -1;
	return 0;
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
		{ "walk", 1, walk_name },
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
	return rc ? -1
		  : PUT_EACH(mk,
			     "INSERT INTO internal_rule VALUES(?1,?2,?3,?4)",
			     err, RULES, i, VALUE_OF(i + 1),
			     value_text(rules[i].name),
			     value_text(rules[i].proves),
			     VALUE_OF(!rules[i].harmless));
}
