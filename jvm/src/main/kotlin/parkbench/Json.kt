/** JSON as the plan needs it: objects, arrays, strings, whole numbers, booleans, null. Nothing is timed here. */
package parkbench

internal class Json(private val text: String) {
    private var at = 0

    companion object {
        /** Map, List, String, Long, Boolean or null. */
        fun parse(text: String): Any? {
            val json = Json(text)
            val value = json.value()
            json.space()
            if (json.at != text.length) json.fail("the end")
            return value
        }

        /** The text as a JSON string. */
        fun quote(text: String): String = buildString {
            append('"')
            for (letter in text) {
                when {
                    letter == '"' || letter == '\\' -> append('\\').append(letter)
                    letter < ' ' -> append("\\u%04x".format(letter.code))
                    else -> append(letter)
                }
            }
            append('"')
        }
    }

    private fun value(): Any? {
        space()
        return when (peek()) {
            '{' -> members()
            '[' -> elements()
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> number()
        }
    }

    private fun members(): Map<String, Any?> {
        val members = LinkedHashMap<String, Any?>()
        at++
        if (ends('}')) return members
        while (true) {
            space()
            if (peek() != '"') fail("a name")
            val name = string()
            space()
            if (next() != ':') fail("a colon")
            members[name] = value()
            if (ends('}')) return members
            if (next() != ',') fail("a comma")
        }
    }

    private fun elements(): List<Any?> {
        val elements = ArrayList<Any?>()
        at++
        if (ends(']')) return elements
        while (true) {
            elements.add(value())
            if (ends(']')) return elements
            if (next() != ',') fail("a comma")
        }
    }

    private fun string(): String = buildString {
        at++
        while (true) {
            when (val letter = next()) {
                '"' -> return@buildString
                '\\' -> append(escaped())
                else -> append(letter)
            }
        }
    }

    private fun escaped(): Char = when (val letter = next()) {
        'n' -> '\n'
        't' -> '\t'
        'r' -> '\r'
        'b' -> '\b'
        'f' -> '\u000c'
        'u' -> text.substring(at, at + 4).toInt(16).toChar().also { at += 4 }
        else -> letter
    }

    private fun number(): Long {
        val start = at
        if (peek() == '-') at++
        while (at < text.length && text[at].isDigit()) at++
        return text.substring(start, at).toLongOrNull() ?: fail("a whole number")
    }

    private fun word(word: String, value: Any?): Any? {
        if (!text.startsWith(word, at)) fail(word)
        at += word.length
        return value
    }

    private fun ends(letter: Char): Boolean {
        space()
        return (peek() == letter).also { if (it) at++ }
    }

    private fun space() {
        while (at < text.length && text[at].isWhitespace()) at++
    }

    private fun peek(): Char = if (at < text.length) text[at] else fail("more")

    private fun next(): Char = peek().also { at++ }

    private fun fail(expected: String): Nothing = throw IllegalArgumentException("byte $at of the plan: expected $expected")
}
