// orders.scala - some even work in Scala, of which causes.py compares equal runs.
import scala.collection.mutable

object orders {
  @volatile var sink = 0L

  def price(seed: Int): Double =
    (1 to 400).iterator.map(i => (seed * i) % 1024).filter(_ % 3 != 0).map(x => x / (1.0 + seed)).sum

  def index(seed: Int, words: mutable.HashMap[String, Int]): Int = {
    for (i <- 0 until 60) {
      val word = s"word${(seed * 7919 + i) % 97}"
      words(word) = words.getOrElse(word, 0) + 1
    }
    words.size
  }

  def sorted(seed: Int): Int =
    (0 until 200).map(i => (i * 7919 + seed) % 1009).sortBy(-_).groupBy(_ % 7).values.map(_.head).sum

  def main(args: Array[String]): Unit = {
    val words = mutable.HashMap[String, Int]()
    for (i <- 0 until args(0).toInt) sink = price(i).toLong + index(i, words) + sorted(i)
  }
}
