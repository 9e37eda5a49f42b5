/* word_meanings.c - what the words mean that are in stacks, tables and pictures
 * besides functions and numbers. */
#include "analyze/stacks/word_meanings.h"

#include <stdio.h>
#include <string.h>

#include "analyze/stacks/trust.h"

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
	{ NULL, "The time between two events, as 'backstitch latency' has it, "
		"has a verdict:" },
	{ "proved", "both are recorded, and no other can be between" },
	{ "consistent", "both are, and others may be missing between" },
	{ "began before", "it has no begin since the recording began" },
	{ "unfinished", "it has no end" },
	{ "begin lost", "a loss lies where its begin could be" },
	{ "end lost", "a loss lies where its end could be" },
	{ "unexplained", "there is no other event, and no reason is known" },
	{ "cancelled", "it ended without a result" },
	{ "ambiguous", "of several at a time it is not known which ended when: "
		       "their number and sum are proved" },
	{ NULL, NULL }
};

const char *verdict_meaning(const char *of, const char *word)
{
	/* a row without a word begins a part: first requests, then chains */
	int part = strcmp(of, "chain") ? 1 : 2;

	for (const struct help_line *l = verdict_words; l->text && part >= 0;
	     l++) {
		part -= !l->word;
		if (!part && l->word && !strcmp(l->word, word))
			return l->text;
	}
	return NULL;
}

const struct help_line mark_words[] = {
	{ NULL, "In sentences:" },
	{ "are wrong", "frames never were: classes 'fabricated (no frame "
		       "pointers)', 'in no mapping'" },
	{ "known to be", "nothing is known of some of the others: classes "
			 "'not judged (WORD)'" },
	{ "other", "of classes that are too rare to be named" },
	{ NULL, "Marks in stacks, tables and pictures:" },
	{ "[caller missing]", "the caller of the function inside of it was not "
			      "recorded; the one outside is not that caller. "
			      "In tables of callers or callees, the name after "
			      "it is the next one that is known" },
	{ "[user: WORD]", "the user stack is missing: WORD is the verdict; or "
			  "what is outside was cut off: the class 'cut "
			  "(WORD)'" },
	{ "[user: after exec]", "the user stack is of the program that came by "
				"exec after the sample" },
	{ "[kernel: WORD]", "hit_only: of the kernel's stack only the address "
			    "that was hit was recorded" },
	{ "[no stack]", "neither half of the stack was recorded" },
	{ "[system call WORD]",
	  "calls inside of it happened in that system call of their thread" },
	{ "[off-CPU: WORD]", "the thread was off the CPU in that state" },
	{ "[woken by WORD]", "who woke the thread; outside of it the waker's "
			     "stack, turned round" },
	{ "[waker: unknown]", "the records do not tell who woke the thread" },
	{ "[unknown]", "an address in no mapping, or without a name and file" },
	{ "[unknown kernel code]", "an address of the kernel in none of its "
				   "modules" },
	{ "[inlined]", "an inlined function without a name" },
	{ "[no name]", "a thread or function of which no name is known" },
	{ "[no line]", "code without a line of source" },
	{ "[self]", "samples of the function itself: it called nothing" },
	{ "[nobody]", "the function is the outermost one" },
	{ "[in WORD]", "in a comparison: code without a name of an image that "
		       "differs" },
	{ "[interpreter: WORD]", "functions of the interpreter itself, merged "
				 "into one frame" },
	{ "[WORD more]", "lines that are left out, as they are below 0.5 %" },
	{ "inferred", "the frame was not recorded: the code proves which one "
		      "it was" },
	{ "inlined too", "the function of this name that is annotated has "
			 "copies inlined into others" },
	{ NULL, "Kinds of frames:" },
	{ "user", "code of a program or library" },
	{ "kernel", "code of the kernel or a module" },
	{ "inlined", "a function that the compiler put into the one outside of "
		     "it" },
	{ "jit", "code that a process generated while it ran" },
	{ "unnamed", "code without a name: the image stands for it" },
	{ "missing", "stands for frames that are not there" },
	{ "after exec", "of the program that came by exec after the sample" },
	{ "fabricated", "no call is in front of the return address: the frame "
			"never was" },
	{ "off-CPU", "stands for the time of a wait" },
	{ "group", "no code: a thread, or what sums others up" },
	{ NULL, "What check says about a capture:" },
	{ "clean", "nothing was lost, and nothing speaks against it" },
	{ "doubtful", "nothing was lost, but too many user stacks are wrong, "
		      "incomplete or unchecked, or too many names unproved" },
	{ "unproved", "nothing is proved to be lost, but not provable either" },
	{ "damaged", "a part of the input could not be read" },
	{ "broken", "records or user stacks were lost, or a rule is broken" },
	{ NULL, "States of a thread off the CPU:" },
	{ "R", "ready to run, without a CPU" },
	{ "R+", "likewise: it was preempted" },
	{ "S", "asleep, until what it waits for or a signal" },
	{ "D", "asleep, and no signal wakes it" },
	{ "T", "stopped" },
	{ "t", "stopped by a tracer" },
	{ "X", "dead" },
	{ "Z", "ended, until its parent knows" },
	{ "P", "parked: a thread of the kernel that is not needed" },
	{ "I", "idle: a thread of the kernel without work" },
	{ NULL, "What a thread waits for:" },
	{ "page fault", "memory that has to be read or made" },
	{ "futex", "a lock or condition of the program" },
	{ "poll", "one of several files: poll, select, epoll" },
	{ "read", "input" },
	{ "write", "room for output" },
	{ "socket", "a connection or packet" },
	{ "io_uring", "a completion of io_uring" },
	{ "ipc", "a message or semaphore of System V, or a POSIX queue" },
	{ "timer", "a time: sleep, nanosleep" },
	{ "child", "the end of another process" },
	{ "signal", "a signal" },
	{ "file", "a file to be found, opened, locked, or on the disk" },
	{ "memory", "a change of its mappings" },
	{ "reclaim",
	  "free memory: pages are written, dropped or moved for it" },
	{ "swap", "a page that was swapped out" },
	{ "numa", "a page that is moved to this node" },
	{ "dirty pages", "the disk: too much written memory is not on it yet" },
	{ "guest", "work for its virtual CPU, which is idle" },
	{ "exec", "the start of another program" },
	{ "fork", "a new thread or process" },
	{ "exit", "its own end" },
	{ "ioctl", "a driver" },
	{ "kernel work", "it is a thread of the kernel" },
	{ "a CPU", "nothing: it is ready to run" },
	{ "throttled",
	  "runnable, but its cgroup used up its quota of CPU time" },
	{ "not run", "runnable, but not run while a CPU was idle: the cause is "
		     "not recorded ('record --waits' reads quotas), or its "
		     "cgroup was frozen" },
	{ NULL, NULL }
};

const char *mark_meaning(const char *name)
{
	const struct help_line *l = mark_words;
	char word[32], cut[40];
	const char *verdict;

	while (l->text && (!l->word || strcmp(l->word, name)))
		l++;
	if (l->text)
		return l->text;
	if (!strncmp(name, "[kernel: ", 9))
		return mark_meaning("[kernel: WORD]");
	if (sscanf(name, "[user: %31[^]]", word) != 1)
		return NULL;
	verdict = verdict_meaning("request", word);
	snprintf(cut, sizeof(cut), "cut (%s)", word);
	return verdict ? verdict : trust_word(cut)->meaning;
}
