/** A class whose initialiser runs what [Frames] has been given. Each section has a new class of these bytes, for a class is initialised once. */
@file:JvmName("Initialised")

package parkbench

/** No object: a hidden class cannot have a field of its own type. */
private val entered: Unit = Frames.enter()
