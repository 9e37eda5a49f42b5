/* edits.c - changes a byte of a capture in place, and counts what nobody
 * notices.
 *
 * usage: damage-edits CAPTURE N SEED; of a CTF trace its metadata, whose folder
 * is the capture: each of its files has N edits. N seeded changes of one byte
 * each, for a commit a quarter of them, in turn. An edit is noticed if the
 * capture is refused or has damage. Of the others, prints how many changed
 * nothing that is read, and how many changed something: of a record its time,
 * thread, ...; an edit that changes several counts for the first of them in
 * this order. tests/damage/edits.txt has the greatest number for each format,
 * and says why no reader could know. */
#include "formats/formats.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "tests/ctf_folder.h"

enum edited {
	E_RECORDS, /* more or fewer, or of another kind */
	E_TIME,
	E_THREAD,
	E_CPU,
	E_EVENT, /* or weight, or mode */
	E_ADDRESS,
	E_DUMP, /* registers, stack, branches */
	E_PAYLOAD,
	E_MAPPING,
	E_NAME,
	E_OTHER,
	E_FACTS, /* of the whole capture */
	EDITED
};

static const char *const edited_name[EDITED] = {
	"records", "time",    "thread",	 "cpu",	 "event", "address",
	"dump",	   "payload", "mapping", "name", "other", "facts",
};

struct print {
	uint64_t key;
	uint64_t hash[EDITED];
};

struct prints {
	struct outcome o;
	struct print *at;
	size_t n, cap;
	uint64_t facts;
};

static uint64_t edits_text(const char *s, uint64_t seed)
{
	return s ? hash_bytes(s, strlen(s), seed) : seed;
}

static uint64_t edits_extras(const struct extra *x, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = x[i].blob ? hash_bytes(x[i].blob, x[i].len, h)
			      : hash_pair(h, x[i].value);
	return h;
}

static uint64_t edits_addresses(const struct addrs *a, uint64_t h)
{
	return a->ip ? hash_u64s(a->ip, a->n, h) : h;
}

static void edits_sample(const struct record *rec, struct print *p)
{
	const struct rec_sample *s = &rec->sample;

	p->hash[E_EVENT] = hash_pair(hash_pair(s->event, s->weight),
				     rec->flags ^ (uint64_t)s->defer << 32);
	p->hash[E_ADDRESS] = edits_addresses(
		&s->user,
		edits_addresses(&s->kern, hash_pair(s->ip, s->cookie)));
	p->hash[E_DUMP] = s->user_regs.abi;
	if (s->user_regs.v)
		p->hash[E_DUMP] = hash_u64s(s->user_regs.v, s->user_regs.n, 1);
	if (s->stack)
		p->hash[E_DUMP] =
			hash_bytes(s->stack, s->stack_len, p->hash[E_DUMP]);
	if (s->n_branch)
		p->hash[E_DUMP] =
			hash_bytes(s->branch, s->n_branch * sizeof(*s->branch),
				   p->hash[E_DUMP]);
	if (s->raw)
		p->hash[E_PAYLOAD] = hash_bytes(s->raw, s->raw_len, 1);
	p->hash[E_OTHER] = edits_extras(s->extra, s->n_extra);
}

static void edits_map(const struct rec_map *m, struct print *p)
{
	const uint64_t v[] = { m->start, m->len, m->pgoff, m->prot,   m->flags,
			       m->maj,	 m->min, m->ino,   m->ino_gen };

	p->hash[E_MAPPING] = hash_u64s(v, sizeof(v) / sizeof(*v), m->id_len);
	if (m->id)
		p->hash[E_MAPPING] =
			hash_bytes(m->id, m->id_len, p->hash[E_MAPPING]);
	p->hash[E_NAME] = edits_text(m->path, 1);
}

static void edits_body(const struct record *rec, struct print *p)
{
	switch (rec->kind) {
	case REC_SAMPLE:
		edits_sample(rec, p);
		break;
	case REC_CHAIN:
		p->hash[E_ADDRESS] =
			edits_addresses(&rec->chain.user, rec->chain.cookie);
		break;
	case REC_MAP:
		edits_map(&rec->map, p);
		break;
	case REC_COMM:
		p->hash[E_NAME] = edits_text(rec->comm.name, 1);
		break;
	case REC_KSYMBOL:
		p->hash[E_MAPPING] =
			hash_pair(rec->ksymbol.addr, rec->ksymbol.len);
		p->hash[E_NAME] = edits_text(rec->ksymbol.name, 1);
		break;
	case REC_FORK:
	case REC_EXIT:
		p->hash[E_THREAD] = hash_pair(
			p->hash[E_THREAD], hash_pair((uint32_t)rec->fork.ppid,
						     (uint32_t)rec->fork.ptid));
		break;
	case REC_LOST:
	case REC_LOST_TOTAL:
		p->hash[E_OTHER] =
			hash_pair(rec->lost.n, (uint64_t)rec->lost.event);
		break;
	case REC_SWITCH:
		p->hash[E_THREAD] = hash_pair(p->hash[E_THREAD],
					      (uint32_t)rec->sw.other_tid);
		break;
	case REC_MARK:
		p->hash[E_OTHER] =
			edits_extras(rec->mark.extra, rec->mark.n_extra);
		break;
	default:
		break;
	}
}

static bool edits_seen(void *arg, struct source *src, const struct ref *ref,
		       const struct record *rec)
{
	struct prints *f = arg;

	(void)src;
	f->o.damage += !rec;
	if (!rec || rec->kind == REC_NONE)
		return false;
	struct print *p = mem_add(f->at, f->n, f->cap);

	*p = (struct print){ .key = ref->handle };
	p->hash[E_RECORDS] = rec->kind;
	p->hash[E_TIME] = hash_pair(rec->time, rec->flags & REC_F_UNTIMED);
	p->hash[E_THREAD] = hash_pair((uint32_t)rec->pid, (uint32_t)rec->tid);
	p->hash[E_CPU] = (uint32_t)rec->cpu;
	p->hash[E_EVENT] = rec->flags;
	edits_body(rec, p);
	return true;
}

/* Not the host: captures of the cases are of the machine that makes them, and
 * how long its name is changes how many edits are in it. */
static uint64_t edits_facts(const struct source *src)
{
	const struct source_info *i = &src->info;
	uint64_t h =
		hash_pair((uint32_t)i->cpus_online, (uint32_t)i->cpus_avail);

	h = edits_text(i->release, h);
	h = edits_text(i->arch, edits_text(i->version, h));
	h = edits_text(i->cmdline, edits_text(i->clock, h));
	h = hash_pair(h, hash_pair(i->wall_ns, i->wall_clock_ns));
	for (uint32_t n = 0; n < src->n_events; n++)
		h = edits_text(src->events[n].format,
			       edits_text(src->events[n].name,
					  hash_pair(h, src->events[n].period)));
	return h;
}

static int edits_compare(const void *a, const void *b)
{
	const struct print *x = a;
	const struct print *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static struct prints edits_read_path(const char *path)
{
	struct prints f = { 0 };
	struct ledger *lg = ledger_new();
	struct record rec;
	struct ref ref;
	int got = 0;
	struct source *src = formats_open(path, NULL, lg, &f.o.err);

	f.o.opened = src != NULL;
	if (src)
		f.o.failed = src->ops->scan(src, &f.o.err) != 0;
	while (src && !f.o.failed &&
	       (got = src->ops->next(src, &ref, &f.o.err)) > 0) {
		bool bad = src->ops->decode(src, &ref, &rec, &f.o.err) != 0;

		edits_seen(&f, src, &ref, bad ? NULL : &rec);
		if (src->ops->release)
			src->ops->release(src, &ref);
	}
	f.o.failed |= got < 0;
	if (src)
		f.facts = edits_facts(src);
	source_close(src);
	ledger_end(lg);
	f.o.damage += ledger_count(lg, LEDGER_DAMAGE);
	ledger_free(lg);
	if (f.n)
		qsort(f.at, f.n, sizeof(*f.at), edits_compare);
	return f;
}

/* part: of a CTF trace; NULL: the bytes are a whole capture. */
static struct prints edits_read(const unsigned char *data, size_t n,
				const struct ctf_part *part)
{
	struct prints f;
	char path[64];

	if (part) {
		ctf_folder_put(part, n);
		return edits_read_path(folder);
	}
	int fd = damage_file(data, n, path);

	f = edits_read_path(path);
	close(fd);
	return f;
}

/* Returns what differs first; EDITED: nothing. */
static enum edited edits_differ(const struct prints *a, const struct prints *b)
{
	if (a->n != b->n)
		return E_RECORDS;
	for (int k = 0; k < E_FACTS; k++)
		for (size_t i = 0; i < a->n; i++)
			if (a->at[i].hash[k] != b->at[i].hash[k])
				return (enum edited)k;
	return a->facts != b->facts ? E_FACTS : EDITED;
}

struct edits {
	uint64_t n, noticed;
	uint64_t kind[EDITED + 1]; /* of those that nobody noticed */
};

static void edits_try(unsigned char *data, size_t n,
		      const struct ctf_part *part, uint64_t tries,
		      struct edits *out)
{
	struct prints whole = edits_read(data, n, part);
	bool fit = whole.o.opened && !whole.o.failed && !whole.o.damage;

	for (uint64_t i = 0; i < tries && fit; i++) {
		uint64_t at = random_below(n);
		unsigned char was = data[at];
		unsigned char change = (unsigned char)(1 + random_below(255));

		if (!turn_is(i, 4))
			continue;
		data[at] ^= change;
		struct prints f = edits_read(data, n, part);

		data[at] = was;
		bool seen = !f.o.opened || f.o.failed || f.o.damage;
		enum edited k = edits_differ(&whole, &f);

		out->n++;
		out->noticed += seen;
		out->kind[k] += !seen;
		if (!seen && k < EDITED && getenv("EDITS"))
			fprintf(stderr, "%s at 0x%" PRIx64 "\n", edited_name[k],
				at);
		free(f.at);
	}
	if (part)
		ctf_folder_put(part, n);
	free(whole.at);
}

int main(int argc, char **argv)
{
	struct edits e = { 0 };
	uint64_t tries = damage_start(argc, argv, "damage-edits CAPTURE");
	const char *slash = strrchr(argv[1], '/');

	if (slash && !strcmp(slash, "/metadata")) {
		ctf_folder_take(argv[1]);
		for (size_t i = 0; i < n_file; i++)
			edits_try(file[i].data, file[i].len, &file[i], tries,
				  &e);
		ctf_folder_remove();
	} else {
		size_t n;
		unsigned char *data = slurp_slurp(argv[1], &n);

		edits_try(data, n, NULL, tries, &e);
		free(data);
	}
	printf("%" PRIu64 " edits %" PRIu64 " noticed %" PRIu64
	       " without effect",
	       e.n, e.noticed, e.kind[EDITED]);
	for (int k = 0; k < EDITED; k++)
		printf(" %" PRIu64 " %s", e.kind[k], edited_name[k]);
	printf("\n");
	return 0;
}
