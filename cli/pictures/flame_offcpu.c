/* flame_offcpu.c - a flame graph of the time that threads were off the CPU. */
#include "cli/pictures/flame.h"

#include <inttypes.h>

#include "cli/pictures/flame_draw.h"
#include "stitch/text/human.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/trust.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/intern.h"

#define NOT_WOKEN "[waker: unknown]"
#define NO_STACK "[no stack]"

/* The waits with the same stack, state and waker. */
struct group {
	struct offcpu_stack at;
	int64_t state;	    /* -1 unless --by-state or --wakeups needs it */
	struct waker waker; /* zero unless --wakeups needs it */
	uint64_t ns, waits;
};

struct groups {
	const struct flame_opts *opts;
	struct group *group;
	size_t n, cap;
	struct intern index; /* of group[] */
};

static void flame_offcpu_take_wait(struct groups *all,
				   const struct offcpu_wait *w)
{
	struct group key = { .at = w->at, .state = w->state };

	if (w->end != OFFCPU_BACK)
		return;
	if (all->opts->wakeups && offcpu_state(w->state)[0] != 'R')
		key.waker = w->waker;
	/* without these options the state is not shown */
	if (!all->opts->by_state && !all->opts->wakeups)
		key.state = -1;

	const struct offcpu_stack *s[2] = { &key.at, &key.waker.at };
	uint64_t word[9 + WAKER_IRQ / 8] = {
		(uint64_t)key.state,
		(uint64_t)key.at.type << 32 | key.waker.at.type,
		(uint64_t)key.waker.asleep << 16 |
			(uint64_t)key.waker.proof << 8 | key.waker.what
	};

	for (int i = 0; i < 2; i++) {
		word[3 + 3 * i] = (uint64_t)s[i]->comm << 16 |
				  (uint64_t)s[i]->verdict << 8 | s[i]->flags;
		word[4 + 3 * i] = s[i]->kraw;
		word[5 + 3 * i] = s[i]->uraw;
	}
	memcpy(&word[9], key.waker.irq, WAKER_IRQ);
	uint32_t id = intern_add_bytes(&all->index, word, sizeof(word));

	if (id == all->n)
		*mem_add(all->group, all->n, all->cap) = key;
	/* cannot overflow: waits_next() checks the sum of all waits */
	all->group[id].ns += (uint64_t)w->to - (uint64_t)w->from;
	all->group[id].waits++;
}

static void flame_offcpu_add_missing(struct drawing *d, const char *name,
				     struct label_list *l)
{
	label_list_add(l, labels_add_name(d->labels, LABEL_MISSING, name));
}

/* Returns whether no sample was taken at this switch. */
static bool flame_offcpu_has_no_stack(const struct group *g)
{
	struct stacks_group at = offcpu_group(&g->at);

	return !at.kraw && !at.uraw && !stacks_missing(at.verdict, at.uraw);
}

static int flame_offcpu_draw_groups(struct drawing *d, struct groups *all,
				    const struct offcpu_sums *sums,
				    struct err *err)
{
	struct label_list l = { .want_from = true };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < all->n; i++) {
		const struct group *g = &all->group[i];
		struct stacks_group at = offcpu_group(&g->at);

		at.weight = g->ns;
		at.samples = g->waits;
		l.n = 0;
		if (d->opts->by_state) {
			char text[16];

			snprintf(text, sizeof(text), "[%s]",
				 offcpu_state(g->state));
			drawing_group(d, text, &l);
		}
		drawing_thread(d, stacks_comm(d->stacks, g->at.comm), &l);
		stacks_get(d->stacks, &at, &l);
		if (flame_offcpu_has_no_stack(g))
			flame_offcpu_add_missing(d, NO_STACK, &l);
		/* a missing waker gets a frame where wake-ups are recorded */
		if (waker_is_known(&g->waker)) {
			/* Adds the waker's stack in reverse, so that the
			 * function that woke the thread stands next to the
			 * one that waited. */
			struct stacks_group waker = offcpu_group(&g->waker.at);
			char who[128];
			char text[160];

			snprintf(who, sizeof(who), "%.100s%s",
				 waker_name(d->stacks, &g->waker),
				 g->waker.proof == PROOF_PROVED ? ""
								: ", likely");
			snprintf(text, sizeof(text), "[woken by %s]", who);
			drawing_group(d, text, &l);
			size_t from = l.n;
			stacks_get(d->stacks, &waker, &l);
			label_list_reverse(&l, from);
		} else if (g->waker.asleep && sums->wakes)
			flame_offcpu_add_missing(d, NOT_WOKEN, &l);
		rc = drawing_add_group(d, &at, &l, err);
	}
	free_all(l.label, l.from);
	return rc < 0 ? -1 : 0;
}

int flame_offcpu(struct drawing *d, const char *path, int *status,
		 struct err *err)
{
	struct stacks_opts so = {
		.filter = d->opts->filter,
		.names = d->opts->names,
		.inlined = d->opts->inlined,
		.bogus = true,
		.gaps = true,
		.labels = d->labels,
		.no_groups = true,
	};
	struct store *db = drawing_open(d, path, status, err);
	struct groups g = { .opts = d->opts };
	struct offcpu_sums sums;
	int rc = -1;

	bool told = false;

	if (db)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks) {
		struct wait_causes *causes =
			d->opts->wakeups ? wait_causes_new(d->stacks) : NULL;
		const struct waits_ask ask = { .filter = d->opts->filter,
					       .stacks = d->stacks,
					       .causes = causes };
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;
		int next;

		while ((next = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				flame_offcpu_take_wait(&g, &item.wait);
		waits_close(w, &sums);
		told = !next;
		wait_causes_free(causes);
		told = told && !drawing_facts(d, db, err);
		if (told)
			trust_of_waits(d->trust);
	}
	store_close(db);
	if (told && !flame_offcpu_draw_groups(d, &g, &sums, err))
		rc = drawing_finish(d, path, err);
	if (!rc) {
		drawing_say(d,
			    "%" PRIu64
			    " wait%s: time from a switch out of a CPU "
			    "to the next switch in%s%s",
			    sums.waits[OFFCPU_BACK],
			    sums.waits[OFFCPU_BACK] == 1 ? "" : "s",
			    sums.records ? ", by the records of switches" : "",
			    d->opts->wakeups && !sums.wakes
				    ? "; no wake-ups were recorded with "
				      "sched_switch"
				    : "");
		/* Notes waits without a stack, as when tracepoints are sampled
		 * by frequency. */
		double bare = 0;
		double whole = 0;

		for (size_t i = 0; i < g.n; i++) {
			whole += (double)g.group[i].ns;
			bare += flame_offcpu_has_no_stack(&g.group[i])
					? (double)g.group[i].ns
					: 0;
		}
		if (bare > 0)
			drawing_say(
				d,
				"%s of the time has no stack: no sample was "
				"taken at the switch; perf record -g -e "
				"sched:sched_switch -c 1 takes one each time",
				HUMAN_PERCENT(bare, whole));
	}
	intern_release(&g.index);
	free(g.group);
	if (rc)
		return -1;
	d->o.count_name = "ns";
	d->o.show_samples = true;
	d->o.sample_name = "wait";
	if (!d->opts->title)
		d->o.title = d->opts->wakeups ? "Off-CPU time and wakers"
					      : "Off-CPU time";
	drawing_note_waits(d, &sums);
	drawing_note_missing(d);
	drawing_note_inferred(d);
	return 0;
}
