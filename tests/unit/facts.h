/* facts.h - runs a stitch over fake sources and keeps all its facts. */
#pragma once
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/order/order.h"
#include "stitch/stitch.h"
#include "stitch/fact.h"
#include "stitch/unwinder.h"
#include "tests/next_fact.h"
#include "tests/unit/fake.h"

struct all_facts {
	struct fact *fact;
	size_t n, cap;
	struct frames *frames;
	struct ledger *ledger;
};

/* Takes the sources over; f[n] may be several captures, together: of one line.
 * uw NULL: no unwinder. One with threads looks at records that a thread
 * decodes. */
static inline struct all_facts
stitch_line_with(struct unwinder *uw, struct fake **f, size_t n, bool together)
{
	struct all_facts all = { .frames = frames_new(),
				 .ledger = ledger_new() };
	struct order *ord = order_new(all.ledger, 0, NULL);
	const struct fact *fact;
	struct err err;

	for (size_t i = 0; i < n; i++)
		order_add(ord, &f[i]->src);
	if (uw && uw->ops->begin)
		order_use_thread(ord);
	const struct stitch_opts opts = { .unwinder = uw };
	struct stitch *st = stitch_new(ord, all.frames, all.ledger, &opts);

	for (uint16_t i = 0; together && i < n; i++)
		stitch_together(st, i, 0);
	while (next_fact(st, &fact, &err) > 0) {
		*mem_add(all.fact, all.n, all.cap) = *fact;
	}
	stitch_free(st);
	order_free(ord);
	return all;
}

static inline struct all_facts stitch_line(struct fake **f, size_t n,
					   bool together)
{
	return stitch_line_with(NULL, f, n, together);
}

static inline struct all_facts stitch_all(struct fake **f, size_t n)
{
	return stitch_line(f, n, false);
}

static inline void facts_done(struct all_facts *all)
{
	frames_free(all->frames);
	ledger_free(all->ledger);
	free(all->fact);
}

/* The i-th fact of a kind; NULL when there are fewer. */
static inline const struct fact *fact_at(const struct all_facts *all,
					 enum fact_kind kind, size_t i)
{
	for (size_t k = 0; k < all->n; k++)
		if (all->fact[k].kind == kind && !i--)
			return &all->fact[k];
	return NULL;
}

static inline size_t fact_count(const struct all_facts *all,
				enum fact_kind kind)
{
	size_t n = 0;

	for (size_t k = 0; k < all->n; k++)
		n += all->fact[k].kind == kind;
	return n;
}

/* The request of an event; fails when it has none or two. */
static inline const struct fact_request *
facts_request_of(const struct all_facts *all, uint32_t event)
{
	const struct fact_request *found = NULL;

	for (size_t k = 0; k < all->n; k++) {
		const struct fact *f = &all->fact[k];

		if (f->kind != FACT_REQUEST || f->request.event != event)
			continue;
		must(!found);
		found = &f->request;
	}
	must(found);
	return found;
}

static inline const struct fact_chain *
facts_chain_of(const struct all_facts *all, uint32_t id)
{
	const struct fact_chain *found = NULL;

	for (size_t k = 0; k < all->n; k++) {
		const struct fact *f = &all->fact[k];

		if (f->kind != FACT_CHAIN || f->chain.id != id)
			continue;
		must(!found);
		found = &f->chain;
	}
	must(found);
	return found;
}
