// Script.java - what a JVM does to stacks: interpreted and compiled code, its
// own threads.
// usage: java Script.java SECONDS
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

public class Script {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static long work(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long sum = 0;
        while (System.nanoTime() < end) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                all.add(Integer.toHexString(i * 7919 % 257));
            }
            all.sort(Comparator.comparing(String::length).thenComparing(s -> s));
            sum += String.join(",", all).length() + fib(15);
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        double half = Double.parseDouble(args[0]) / 2;
        Thread other = new Thread(() -> work(half));
        other.start();
        work(half);
        other.join();
    }
}
