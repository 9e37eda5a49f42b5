/* cgroups.c - spends its time in one of two functions, by the number of its
 * arguments. gcc -O1 -g -fno-omit-frame-pointer -o cgroups cgroups.c */
static volatile long n;

__attribute__((noinline)) static void serve(void)
{
	for (long i = 0; i < 40000000; i++)
		n += i;
}

__attribute__((noinline)) static void store(void)
{
	for (long i = 0; i < 40000000; i++)
		n ^= i;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		store();
	else
		serve();
	return 0;
}
