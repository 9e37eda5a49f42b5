/* cut_read.c - reads records of a stream that is cut as its reader will. */
#include "formats/perf/cut_read.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"

/* More ids of events are not kept; the reader of a piece knows them. */
#define IDS_MAX (1u << 20)

struct cut_read *cut_read_new(const char *path, bool big_endian)
{
	struct cut_read *c = mem_new(1, sizeof(*c));
	struct perf *p = &c->p;

	p->src.path = (char *)path;
	p->src.info.big_endian = big_endian;
	p->src.info.cpus_avail = -1;
	p->swap = bytes_must_swap(big_endian);
	return c;
}

void cut_read_free(struct cut_read *c)
{
	if (!c)
		return;
	perf_release(&c->p);
	free(c);
}

int cut_read_session(struct cut_read *c, const struct perf_rec *r,
		     struct err *err)
{
	uint64_t before = c->p.damaged;
	size_t n = c->p.n_attr;

	if (c->p.n_id >= IDS_MAX)
		return 0;
	c->late |= c->records &&
		   (r->type == PR_HEADER_ATTR || r->type == PR_FEATURE);
	perf_tool_take(&c->p, &c->file, r, NULL);
	c->counts |= c->p.n_attr > n && c->p.attr[n].sample_type & PS_READ;
	return c->p.damaged == before ? 0
				      : err_at(err, r->b.path, r->off,
					       "a record of type %s is damaged",
					       perf_type_name(r->type));
}

int32_t cut_read_cpu(struct cut_read *c, uint64_t id)
{
	const struct perf_id *known = perf_id_find(&c->p, id);

	return known && known->cpu >= 0 ? known->cpu : -1;
}

int cut_read_stamp(struct cut_read *c, const struct perf_rec *r,
		   struct cut_stamp *out, struct err *err)
{
	struct ref ref = { 0 };
	uint32_t cpu = UINT32_MAX;

	*out = (struct cut_stamp){ .cpu = -1 };
	c->records = true;
	if (!r->type || r->type >= PR_KERNEL_KNOWN)
		return 0;
	if (!perf_ref_make(&c->p, &c->file, r, &ref))
		return err_at(err, r->b.path, r->off,
			      "a record of type %s is damaged",
			      perf_type_name(r->type));
	if (!ref.untimed)
		out->time = ref.key;
	if (r->type != PR_LOST && r->type != PR_LOST_SAMPLES)
		return 0;
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);

	if (!a || r->size < 8 + a->t_size)
		return 0;
	if (a->t_cpu && !bytes_peek_u32(&r->b, r->size - a->t_cpu, &cpu))
		out->cpu = (int32_t)cpu;
	if (a->t_id)
		bytes_peek_u64(&r->b, r->size - a->t_id, &out->id);
	return 0;
}

int cut_read_decode(struct cut_read *c, const struct perf_rec *r,
		    struct record *rec, struct err *err)
{
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);

	*rec = (struct record){ .pid = -1, .tid = -1, .cpu = -1 };
	if (!a)
		return err_at(err, r->b.path, r->off,
			      "a record of type %s is of no event",
			      perf_type_name(r->type));
	return perf_record_decode_other(&c->p, a, r, false, rec, err);
}

/* Without an id, the reader takes a record for one of the first event. */
unsigned char *cut_read_copy(struct cut_read *c, const struct perf_rec *r)
{
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);
	unsigned char *copy = mem_dup(r->b.pos, r->size);
	unsigned char *end = copy + r->size;

	if (a && a->t_size == c->p.attr->t_size &&
	    a->t_time == c->p.attr->t_time)
		memset(end - a->t_size, 0, a->t_size);
	else if (a && a->t_time)
		memset(end - a->t_time, 0, sizeof(uint64_t));
	return copy;
}

void cut_read_write(struct cut_read *c, const void *record, size_t size,
		    FILE *out)
{
	struct perf_rec r = { .size = (uint16_t)size };
	struct record rec;

	bytes_init(&r.b, record, size, c->p.src.path, 0, c->p.swap);
	bytes_peek_u32(&r.b, 0, &r.type);
	bytes_peek_u16(&r.b, 4, &r.misc);
	if (!c->late || !cut_read_decode(c, &r, &rec, NULL))
		fwrite(record, 1, size, out);
}
