/* truth.h - captures, parts of them that were changed on purpose, what the
 * audit says of those, and what it must say.
 *
 * Order of one case: a slice of a capture (slice.c) is run as it is, which
 * must be free of accusations; it is changed (change.c); the changed list of
 * records goes through stitch (run.c); what comes out is compared with the
 * model's answer (model_*.c) and, outside of what the change concerns, with
 * what came out before it (check.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "tests/rnd.h"

#define NOWHERE UINT32_MAX

/* ---- capture.c: all records of a capture, in memory, in time order */
struct capture {
	char name[64];
	struct record *rec;
	size_t n, cap;
	struct arena text;
	struct order *order; /* keeps the source, and its strings */
	struct ledger *ledger;
	const struct source *src;
	bool whole_ok; /* used as a whole too */
};

/* 0, or -1: not to be had, or something was lost in it. */
int capture_read(struct capture *c, const char *path);
void capture_release(struct capture *c);

/* ---- slice.c: lists of records that share them */
struct item {
	const struct record *rec;
	uint32_t origin; /* place in the slice; NOWHERE: put in */
	uint16_t source; /* which capture of a pair */
	bool again;	 /* the other one of the pair told of it before */
};

struct list {
	struct item *at;
	size_t n, cap;
};

void list_add(struct list *l, const struct record *rec, uint32_t origin);
void list_insert(struct list *l, size_t at, const struct record *rec);
void list_copy(struct list *to, const struct list *from);

/* A part of a capture, with the state records before it that it needs. */
struct slice {
	const struct capture *cap;
	struct list list;
	size_t start; /* before it is only state */
	struct source_info info;
	bool pair;		 /* its list is of two captures of a kernel: */
	struct source_info more; /* of the second */
	struct arena own;	 /* records made for it */
};

static inline const struct source_info *info_of(const struct slice *s,
						uint16_t source)
{
	return source ? &s->more : &s->info;
}

/* `len` records around record `at` of the capture; whole: all of it. */
void slice_make(struct slice *s, const struct capture *c, size_t at, size_t len,
		bool whole);
void slice_release(struct slice *s);

static inline bool is_timed(const struct record *r)
{
	return !(r->flags & REC_F_UNTIMED) && r->time <= INT64_MAX;
}

static inline int64_t truth_time_of(const struct record *r)
{
	return is_timed(r) ? (int64_t)r->time : TIME_NONE;
}

static inline bool has_cookie(const struct record *r)
{
	return r->kind == REC_CHAIN ||
	       (r->kind == REC_SAMPLE && r->sample.defer == DEFER_COOKIE);
}

static inline uint64_t cookie_of(const struct record *r)
{
	return r->kind == REC_CHAIN ? r->chain.cookie : r->sample.cookie;
}

/* As the kernels of the captures made them (backstitch-formats(5), "Deferred
 * stacks: cookies"). */
static inline int32_t cookie_cpu(uint64_t cookie)
{
	return (int32_t)(cookie & UINT32_MAX) - 1;
}

static inline uint32_t cookie_count(uint64_t cookie)
{
	return (uint32_t)(cookie >> 32);
}

/* ---- run.c: what stitch says */
struct event_row {
	bool has;
	struct fact_event f;
	uint64_t kern, user; /* hashes of what the stacks say; 0: none */
	uint32_t thread;     /* index in threads */
	char comm[32];
};

struct request_row {
	bool has, twice;
	struct fact_request f;
	uint32_t chain, as_tid; /* items; NOWHERE */
	uint64_t user;
};

struct chain_row {
	bool has, twice;
	struct fact_chain f;
	uint64_t user;
};

struct finding_row {
	struct fact_finding f;
	uint32_t event; /* item; NOWHERE */
	int32_t tid;	/* of the thread; -1: none */
};

/* By place in the list: event, request, chain. */
struct result {
	size_t n, cap_event, cap_request, cap_chain;
	struct event_row *event;
	struct request_row *request;
	struct chain_row *chain;

	struct fact_process *process;
	struct fact_thread *thread;
	struct fact_gap *gap;
	struct fact_counter *counter;
	struct fact_session *session;
	struct fact_copy *copy;
	uint32_t *copy_item; /* of each copy */
	struct fact_chain *told;
	struct finding_row *finding;
	struct ledger_entry *loss;
	size_t n_process, n_thread, n_gap, n_counter, n_session, n_finding;
	size_t n_loss, n_copy, cap_copy, cap_copy_item, n_told, cap_told;
	size_t cap_process, cap_thread, cap_gap, cap_counter, cap_session;
	size_t cap_finding, cap_loss;
	uint32_t maps; /* mapping rows */
	bool failed;
	char error[480];
	/* scratch */
	struct comm_name *comm;
	size_t n_comm, cap_comm;
	uint32_t *item_of_event, *item_of_chain;
	size_t cap_item_event, cap_item_chain;
	uint64_t *image, *raw;
	size_t cap_image, cap_raw;
};

void run_list(const struct slice *s, const struct list *l, struct result *out);
void result_release(struct result *r);
/* Sources over the list, one for each capture; order_add() takes them. They
 * borrow both. */
struct source *list_source(const struct slice *s, const struct list *l,
			   uint16_t source);

/* ---- model.c: what it must say, by looking at all records again and again */
struct expect_request {
	bool has;
	uint32_t chain, as_tid, life; /* items; NOWHERE */
	enum request_verdict verdict;
	enum confidence confidence;
	uint32_t flags;
	int64_t latency;
	enum request_end end;
	int64_t until;
	uint32_t loss; /* index in expect.loss; NOWHERE */
	enum as_perf as_perf;
	int64_t held;
};

struct expect_chain {
	bool has;
	bool copy;   /* no chain of its own: */
	uint32_t of; /* item that it is one of */
	enum chain_verdict verdict;
	enum confidence confidence;
	uint32_t flags, n_events, loss;
	int64_t from;
};

struct expect_loss {
	uint16_t source;
	int32_t cpu;
	int64_t t0, t1;
	uint64_t n;
};

/* A record with a cookie; kept apart, as they are looked at most. */
struct half {
	uint64_t cookie;
	int32_t tid;
	uint32_t item;
	uint16_t source;
	bool is_chain;
};

/* One thread, from birth to death. */
struct life {
	int32_t tid, pid;
	uint32_t first, last; /* items; NOWHERE */
	bool reused;	      /* its id had another life before */
	bool ended;	      /* by an EXIT */
	bool again;	      /* though it had, and no FORK told */
	uint32_t again_at;    /* item that shows it */
	bool known;	      /* by a FORK, or told by the recorder */
	bool heard;	      /* made a record, or started by one */
	int64_t start, end;
};

struct expect {
	struct half *half;
	size_t n_half, cap_half;
	size_t n, cap_request, cap_chain, cap_first, cap_life, cap_prev;
	struct expect_request *request;
	struct expect_chain *chain;
	uint32_t *first; /* first item of the same cookie and thread */
	uint32_t *life;	 /* number of the life of its thread, in lives */
	uint32_t *prev;	 /* item of the same thread's id before; NOWHERE */
	int32_t *forgot; /* process id that another process has from this item
			  * on, though no FORK told; 0: none */
	struct life *lives;
	size_t n_lives, cap_lives, cap_forgot;
	struct expect_loss *loss;
	size_t n_loss, cap_loss;
	struct fact_gap *gap; /* .loss is an index in loss, or NOWHERE */
	bool *gap_late; /* its lower neighbour may be older than its first sight
			 */
	size_t n_gap, cap_gap, cap_gap_late;
	struct fact_counter *counter;
	size_t n_counter, cap_counter;
	struct expect_session {
		bool has;
		uint64_t no_chain, no_sample, missing;
	} session[2];
	uint16_t witness; /* whose counters they are */
	int64_t there;	  /* since when; TIME_NONE: all along */
	bool proves;  /* missing counters do, where no other session asked */
	bool foreign; /* another one asked somewhere */
};

void model_run(const struct slice *s, const struct list *l, struct expect *ex);
void expect_release(struct expect *ex);
/* model_count.c: the counters' part of it. */
void model_counters(const struct slice *s, const struct list *l,
		    struct expect *ex);
/* The first loss that overlaps (from, to) on that CPU (-1: any). */
uint32_t model_loss(const struct expect *ex, uint16_t source, int32_t cpu,
		    int64_t from, int64_t to);
/* The same of that source or else of the other. */
uint32_t model_any_loss(const struct expect *ex, uint16_t source, int32_t cpu,
			int64_t from, int64_t to);
/* model_state.c: lives, prev and forgot. */
void model_lives(const struct list *l, struct expect *ex);
/* The name of the thread of item i, at it. */
void model_comm(const struct list *l, const struct expect *ex, size_t i,
		char *name, size_t size);
/* The mapping of that process that covers addr before item i; NULL. */
const struct record *model_map(const struct list *l, const struct expect *ex,
			       size_t i, int32_t pid, uint64_t addr);
/* Is it a record that makes its thread known? */
bool model_of_thread(const struct record *r);

/* ---- change.c */
enum kind {
	CHANGE_NONE,
	CHANGE_CHAIN,
	CHANGE_SAMPLES, /* all of a cookie */
	CHANGE_COOKIE,	/* these and its chain */
	CHANGE_FIRST,	/* the first of several samples */
	CHANGE_OTHER,	/* another one of several */
	CHANGE_EXIT,
	CHANGE_FORK,
	CHANGE_MAP,
	CHANGE_COMM,
	CHANGE_TID,	/* a later thread gets a dead one's number */
	CHANGE_TID_NEW, /* the same, and its FORK is gone */
	CHANGE_TID_OLD, /* the same, and the EXIT of the dead is gone */
	CHANGE_WRAP,	/* the counters of a CPU wrap */
	CHANGE_TWO,	/* two of these */
	N_CHANGES
};

extern const char *const change_names[N_CHANGES];

struct change {
	enum kind kind;
	bool lost;   /* a LOST record tells of what was removed */
	bool totals; /* and the recorder's sums at the end */
	struct list list;
	struct arena own; /* records made for it */
	struct item *gone;
	size_t n_gone, cap_gone;
	/* What it concerns: nothing else may come out otherwise. */
	uint64_t cookie[4];
	int32_t tid[8];
	size_t n_cookie, n_tid;
	uint32_t kinds; /* 1 << kind: all that were done */
	bool sched;	/* one that is gone told of the scheduler */
	bool names;	/* names and stacks of others follow from it */
	char text[1000];
};

/* Is record r of the slice one that this kind can be done to? */
bool change_fits(const struct record *r, enum kind kind);
/* false: the slice has nothing for it. */
bool change_make(struct change *ch, const struct slice *s, enum kind kind,
		 bool lost, bool totals, uint64_t *seed);
void change_release(struct change *ch);

/* ---- pair.c: two captures of what a slice is one of */
struct pair {
	struct slice side[2];
	struct change change[2];
	struct slice both; /* of the changed sides: what is run */
	char text[2200];
};

/* false: the slice has too little for it. */
bool pair_make(struct pair *p, const struct slice *s, uint64_t *seed);
void pair_release(struct pair *p);

/* ---- check.c, rest.c */
struct report {
	char text[1200];
	size_t len;
	unsigned int n;
};

void report_add(struct report *rp, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Against the model. */
void check_model(const struct slice *s, const struct list *l,
		 const struct result *got, const struct expect *ex,
		 struct report *rp);
/* Against what came out before the change. */
void check_rest(const struct slice *s, const struct change *ch,
		const struct result *base, const struct result *got,
		const struct expect *ex, struct report *rp);
/* found.c: the findings of the rules. */
void check_found(const struct slice *s, const struct change *ch,
		 const struct result *got, const struct expect *ex,
		 struct report *rp);
/* told.c: against what was done. */
void check_told(const struct slice *s, const struct change *ch,
		const struct result *base, const struct result *got,
		struct report *rp);
/* Nobody is accused. */
void check_clean(const struct slice *s, const struct result *got,
		 struct report *rp);
/* All rows in words. */
void dump_case(const struct slice *s, const struct list *l,
	       const struct result *got);

/* ---- edits.c: edits of whole captures, as a table. Returns false if anything
 * that is proved is not found, or anything is said that is not so. */
bool edits_tell(const struct capture *cap, size_t n, uint64_t seed);

/* ---- store.c: the same through SQLite; 0, or -1 and a report. */
int check_store(const struct slice *s, const struct list *l,
		const struct result *got, struct report *rp);
