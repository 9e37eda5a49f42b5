/* verdict_words.c - what the words of verdicts mean. */
#include "cli/stacks/verdict_words.h"

#include <string.h>

const struct help_line verdict_words[] = {
	{ NULL, "A request is a sample whose user stack was to come "
		"later. Each request gets one verdict:" },
	{ "matched", "joined to its chain by the cookie" },
	{ "chain_lost", "no chain; records were lost meanwhile" },
	{ "exit_per_task", "the thread ended, and with it the events "
			   "of a per-task session" },
	{ "pending_end", "still in the kernel when the capture "
			 "ended" },
	{ "unjoinable", "a marker without a cookie: raise the sysctl "
			"kernel.perf_event_max_contexts_per_stack" },
	{ "refused", "the kernel took the user stack at once instead; "
		     "it is there" },
	{ "stripped", "the file's chains were removed, as perf inject "
		      "does" },
	{ "before_opt_in", "a process that unwinds itself had not "
			   "logged any stack so far" },
	{ "in_unwinder", "the thread was unwinding itself already" },
	{ "unwinder_died", "the process logged no stack after that" },
	{ "empty", "joined, but the kernel found no address in user "
		   "mode: no memory, or virtual-8086 mode" },
	{ "unexplained", "no reason was found" },
	{ NULL, "A chain is such a user stack. Each chain gets one "
		"verdict:" },
	{ "used", "at least one sample has it" },
	{ "sample_lost", "its samples were lost" },
	{ "foreign", "another session asked for it" },
	{ "overwritten", "its samples were overwritten in the ring" },
	{ "duplicate", "the same cookie and addresses again" },
	{ "unjoinable", "its samples carry no cookie" },
	{ "unexplained", "no reason was found" },
	{ NULL, "Each verdict has a confidence:" },
	{ "proved", "the cookie proves it" },
	{ "explained", "a loss, an exit or the end of the capture explains "
		       "it" },
	{ "unexplained", "nothing in the capture explains it" },
	{ NULL, NULL }
};

const char *verdict_meaning(const char *of, const char *word)
{
	/* a row without a word begins a part: 1 for requests, 2 for chains */
	int part = strcmp(of, "chain") ? 1 : 2;

	for (const struct help_line *l = verdict_words; l->text && part >= 0;
	     l++) {
		part -= !l->word;
		if (!part && l->word && !strcmp(l->word, word))
			return l->text;
	}
	return NULL;
}
