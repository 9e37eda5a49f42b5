/* rule.c - rules for events that request a stack and for those that bring it
 * later: "NAME(COOKIE)" and "NAME(COOKIE,ADDRESSES)". */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "stitch/base/err.h"

#define REQUEST "stitch:request(cookie)"
#define CHAIN "stitch:ustack(cookie,ips)"

static int ctf_rule_add(struct ctf *ctf, const char *s, size_t n, bool chain)
{
	const char *open = memchr(s, '(', n);
	const char *end = s + n - 1;

	if (!open || open == s || *end != ')')
		return -1;
	const char *comma = memchr(open, ',', (size_t)(end - open));
	const char *stop = comma ? comma : end;

	if ((comma != NULL) != chain || stop == open + 1 ||
	    (comma && comma + 1 == end))
		return -1;
	*mem_add(ctf->rule, ctf->n_rule, ctf->cap_rule) = (struct ctf_rule){
		.event = mem_dup(s, (size_t)(open - s)),
		.cookie = mem_dup(open + 1, (size_t)(stop - open - 1)),
		.ips = comma ? mem_dup(comma + 1, (size_t)(end - comma - 1))
			     : NULL,
	};
	return 0;
}

static int ctf_rule_add_all(struct ctf *ctf, const char *s, bool chain,
			    struct err *err)
{
	for (const char *p = s; *p;) {
		size_t n = strcspn(p, " ");

		if (n && ctf_rule_add(ctf, p, n, chain))
			return err_set(err, ERR_USAGE, "'%s' is no %s", s,
				       chain ? "--chain, such as " CHAIN
					     : "--request, such as " REQUEST);
		p += n + (p[n] == ' ');
	}
	return 0;
}

int ctf_rules_read(struct ctf *ctf, struct err *err)
{
	const char *request = ctf->opts.request;
	const char *chain = ctf->opts.chain;

	if (ctf_rule_add_all(ctf, request ? request : REQUEST, false, err))
		return -1;
	return ctf_rule_add_all(ctf, chain ? chain : CHAIN, true, err);
}

void ctf_rules_release(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->n_rule; i++)
		free_all(ctf->rule[i].event, ctf->rule[i].cookie,
			 ctf->rule[i].ips);
	free(ctf->rule);
}

const struct ctf_rule *ctf_rule_of(const struct ctf *ctf, const char *event,
				   bool chain)
{
	for (size_t i = 0; i < ctf->n_rule; i++)
		if ((ctf->rule[i].ips != NULL) == chain &&
		    !strcmp(ctf->rule[i].event, event))
			return &ctf->rule[i];
	return NULL;
}
