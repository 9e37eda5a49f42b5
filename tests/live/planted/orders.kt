// orders.kt - some even work in Kotlin, of which causes.py compares equal runs.
@Volatile var sink = 0L

fun price(seed: Int): Double =
    (1..400).map { (seed * it) % 1024 }.filter { it % 3 != 0 }.sumByDouble { it / (1.0 + seed) }

fun index(seed: Int, words: HashMap<String, Int>): Int {
    for (i in 0 until 60)
        words.merge("word${(seed * 7919 + i) % 97}", 1) { a, b -> a + b }
    return words.size
}

fun sorted(seed: Int): Int =
    (0 until 200).map { (it * 7919 + seed) % 1009 }.sortedBy { -it }.groupBy { it % 7 }
        .values.sumBy { it.first() }

fun main(args: Array<String>) {
    val words = HashMap<String, Int>()
    for (i in 0 until args[0].toInt())
        sink = price(i).toLong() + index(i, words) + sorted(i)
}
