/* copies.c - packets that several files of a stream have: two snapshots of one
 * buffer hold the packets that were in it both times. Each is read once.
 *
 * A packet has the number, the times and the size that no other packet of its
 * stream has. ctf_files_add() notes them all; if the files of some stream
 * overlap, ctf_copies_sort() keeps the list, else it is forgotten. */

#include "formats/ctf/ctf.h"
#include "stitch/base/search.h"

/* 32 MiB. Beyond them packets of overlapping files are read as often as they
 * are there. */
#define COPIES_MAX ((size_t)1 << 21)

struct ctf_copy {
	uint64_t packet; /* hash of what it is known by */
	uint32_t file;	 /* as ctf_file.order */
};

static uint64_t ctf_copy_hash(const struct ctf_file *f,
			      const struct ctf_state *st,
			      const struct ctf_packet *p)
{
	const uint64_t known[] = {
		f->trace,
		p->plan->sc->id,
		st->role[CTF_STREAM_ID],
		st->roles >> CTF_PACKET_SEQ & 1 ? st->role[CTF_PACKET_SEQ] : 0,
		p->begin,
		p->finish,
		p->len,
	};

	return hash_u64s(known, ARRAY_SIZE(known), 0);
}

static bool ctf_copy_is_known(const struct ctf_state *st,
			      const struct ctf_packet *p)
{
	return st->roles >> CTF_STREAM_ID & 1 && p->has_begin && p->has_end &&
	       !p->cut;
}

void ctf_copies_note(struct ctf *ctf, const struct ctf_file *f,
		     const struct ctf_state *st, const struct ctf_packet *p)
{
	if (ctf->n_copy < COPIES_MAX && ctf_copy_is_known(st, p))
		*mem_add(ctf->copy, ctf->n_copy, ctf->cap_copy) =
			(struct ctf_copy){ ctf_copy_hash(f, st, p), f->order };
}

COMPARE_BY(ctf_copy_compare, struct ctf_copy, packet, file);

void ctf_copies_sort(struct ctf *ctf, bool overlap)
{
	if (!overlap)
		ctf->n_copy = 0;
	sort_items(ctf->copy, ctf->n_copy, ctf_copy_compare);
}

bool ctf_copies_has(const struct ctf *ctf, const struct ctf_file *f,
		    const struct ctf_state *st, const struct ctf_packet *p)
{
	if (!ctf->n_copy || !ctf_copy_is_known(st, p))
		return false;
	const uint64_t h = ctf_copy_hash(f, st, p);
	const size_t i = search_where(ctf->n_copy, k, ctf->copy[k].packet >= h);

	return i < ctf->n_copy && ctf->copy[i].packet == h &&
	       ctf->copy[i].file < f->order;
}
