// orders.java - orders.cc in Java; causes.py says what is not to be inlined.
import java.util.HashMap;
import java.util.concurrent.locks.ReentrantLock;

class orders {
    static volatile long sink;
    static byte[] kept;
    static final ReentrantLock door = new ReentrantLock();

    static long mix(long x, long rounds) {
        for (long i = 0; i < rounds * (10 + 8 * PLANT_LEAF) / 10; i++)
            x = (x ^ (x >>> 31)) * 0x9e3779b97f4a7c15L + i;
        return x;
    }

    static long price(long seed) {
        double sum = 0;
        for (int i = 0; i < 3000; i++) {
            seed = seed * 6364136223846793005L + 1;
            sum += (double) (seed >>> 40) / (1.0 + (double) (seed & 1023));
        }
        return (long) sum;
    }

    static long checksum(int[] v) {
        long sum = 1;
        for (int again = 0; again < 10 + 8 * PLANT_SHARED; again++)
            for (int x : v)
                sum = (sum << 5 | sum >>> 59) ^ x;
        return sum;
    }

    static long pack(int[] v) {
        long out = checksum(v);
        for (int x : v)
            out += x * out | 1;
        return out;
    }

    static long verify(int[] v) {
        long out = 0;
        for (int i = 0; i < 1 + 2 * PLANT_CALLER; i++)
            out += checksum(v);
        for (int x : v)
            out ^= x / (out | 3);
        return out;
    }

    static long letters(String s) {
        long n = 0;
        for (int i = 0; i < s.length(); i++)
            n += (s.charAt(i) & 31) << (s.charAt(i) & 7);
        return n;
    }

    static long count(HashMap<String, Long> index, String word) {
        return index.merge(word, 1L, Long::sum);
    }

    static long index_words(long seed, HashMap<String, Long> index) {
        long sum = 0;
        for (int i = 0; i < 60; i++) {
            String word = "word" + (mix(seed, 2) % 97 + i) + "-of-the-index";
            for (int k = 0; k < 1 + 3 * PLANT_SPREAD; k++)
                sum += count(index, word) + letters(word);
        }
        return sum;
    }

    static long scale(int[] v, long by) {
        long sum = 0;
        for (int i = 0; i < 9; i++)
            for (int x : v)
                sum += (x * by) >>> 3 ^ sum >>> 5;
        return sum;
    }

    static long matrix(int[] v) {
        long sum = scale(v, 77);
        for (int x : v)
            sum += x % (sum | 1);
        return sum;
    }

    static long parse(long seed) {
        long sum = 0;
        for (int i = 0; i < 60; i++) {
            String text = (seed + i) + ",some field,another one";
            for (int k = 0; k < 9 * PLANT_ALLOC; k++)
                kept = text.getBytes();
            for (int k = 0; k < text.length(); k++)
                sum = sum * 31 + text.charAt(k);
        }
        return sum;
    }

    static long push_order(long[] queue, long x) {
        for (int i = 0; i < 120; i++) {
            for (int k = 0; k < 4 * PLANT_LOCK; k++) {
                door.lock();
                sink = x;
                door.unlock();
            }
            queue[(int) ((x + i) & 63)] ^= x * i;
            x = x * 2862933555777941757L + 3037000493L;
        }
        return x;
    }

    static long sort_rows(int[] from) {
        int[] v = from.clone();
        for (int i = 1; i < 160; i++)
            for (int k = i; k > 0 && v[k - 1] > v[k]; k--) {
                int x = v[k];
                v[k] = v[k - 1];
                v[k - 1] = x;
            }
        return v[7];
    }

    static int[] rows() {
        int[] v = new int[600];
        for (int i = 0; i < v.length; i++)
            v[i] = i * (int) 2654435761L;
        return v;
    }

    // a round each: the loops around them stay in the interpreter, which names nothing
    static void clerk(int i, int[] v, long[] queue, HashMap<String, Long> index) {
        sink = index_words(i, index) + pack(v) + push_order(queue, i);
        sink = parse(i) + mix(i, 6000);
        if (PLANT_MOVED == 0)
            sink = sort_rows(v);
    }

    static void teller(int i, int[] v) {
        sink = price(i) + verify(v) + matrix(v);
        if (PLANT_MOVED == 1)
            sink = sort_rows(v);
    }

    static void clerks(int rounds) {
        int[] v = rows();
        long[] queue = new long[64];
        HashMap<String, Long> index = new HashMap<>();
        for (int i = 0; i < rounds; i++)
            clerk(i, v, queue, index);
    }

    static void tellers(int rounds) {
        int[] v = rows();
        for (int i = 0; i < rounds; i++)
            teller(i, v);
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Thread a = new Thread(() -> clerks(rounds)), b = new Thread(() -> tellers(rounds));
        a.start();
        b.start();
        a.join();
        b.join();
    }
}
