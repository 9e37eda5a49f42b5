// orders.cs - some even work in C#, of which causes.py compares equal runs.
using System.Collections.Generic;
using System.Linq;

class orders {
    static long sink;

    static double price(int seed) {
        return Enumerable.Range(1, 400).Select(i => seed * i % 1024)
            .Where(x => x % 3 != 0).Sum(x => x / (1.0 + seed));
    }

    static int index(int seed, Dictionary<string, int> words) {
        for (int i = 0; i < 60; i++) {
            string word = "word" + (seed * 7919L + i) % 97;
            words.TryGetValue(word, out int n);
            words[word] = n + 1;
        }
        return words.Count;
    }

    static int sorted(int seed) {
        return Enumerable.Range(0, 200).Select(i => (i * 7919 + seed) % 1009)
            .OrderBy(x => -x).GroupBy(x => x % 7).Sum(g => g.First());
    }

    static void Main(string[] args) {
        var words = new Dictionary<string, int>();
        for (int i = 0; i < int.Parse(args[0]); i++)
            sink = (long)price(i) + index(i, words) + sorted(i);
    }
}
