/* mark_words.c - what the marks mean that stand in stacks, tables and pictures
 * where a function or a number would. */
#include "cli/model/mark_words.h"

#include <stdio.h>
#include <string.h>

#include "cli/model/trust_words.h"

const struct help_line mark_words[] = {
	{ NULL, "Marks in stacks, tables and pictures:" },
	{ "[caller missing]", "the caller of the function inside of it was not "
			      "recorded; the one outside is not that caller" },
	{ "[user: WORD]", "the user stack is missing: WORD is the verdict; or "
			  "what is outside was cut off: the class 'cut "
			  "(WORD)'" },
	{ "[user: after exec]", "the user stack is of the program that came by "
				"exec after the sample" },
	{ "[kernel: hit_only]", "of the kernel's stack only the address that "
				"was hit was recorded" },
	{ "[no stack]", "neither half of the stack was recorded" },
	{ "inferred", "the frame was not recorded: the code proves which one "
		      "it was" },
	{ "inlined", "a function that the compiler put into the one outside of "
		     "it" },
	{ "inlined too", "the function of this name that is annotated has "
			 "copies inlined into others" },
	{ "fabricated", "no call is in front of the return address: the frame "
			"never was" },
	{ NULL, NULL }
};

const char *mark_meaning(const char *name)
{
	const struct help_line *l = mark_words;
	char word[32], cut[40];
	const char *verdict;

	while (l->text && (!l->word || strcmp(l->word, name)))
		l++;
	if (l->text || sscanf(name, "[user: %31[^]]", word) != 1)
		return l->text;
	verdict = verdict_meaning("request", word);
	snprintf(cut, sizeof(cut), "cut (%s)", word);
	return verdict ? verdict : trust_word(cut)->meaning;
}
