package org.mobilevos.follow

import android.content.res.AssetManager
import com.google.ai.edge.litert.Accelerator
import com.google.ai.edge.litert.CompiledModel
import kotlin.math.hypot

/** Follows one object. A frame is RGB, 0..255, row by row; a mask is 0..1, row by row, at a quarter of the size. */
class ObjectFollower(assets: AssetManager) : AutoCloseable {
    private val model =
        CompiledModel.create(assets, "mobilenetv2-lite-480x272-1.tflite", CompiledModel.Options(Accelerator.CPU))
    private val inputs =
        listOf("frame", "keys", "values", "nearness", "write", "given", "use_given")
            .associateWith { model.createInputBuffer(it) }
    private val outputs =
        listOf("probabilities", "keys_out", "values_out", "rating").associateWith { model.createOutputBuffer(it) }
    private var keys = FloatArray(CHANNELS * SLOTS * CELLS)
    private var values = FloatArray(SLOTS * CELLS * CHANNELS)
    private var time = 0

    /** How well the latest mask fits by the network's own judgement, 0..1. */
    var rating = 0f
        private set

    /** Begin with the first frame and the object's mask (WIDTH / 4 x HEIGHT / 4). It goes into all slots. */
    fun start(frame: FloatArray, mask: FloatArray) {
        time = 0
        run(frame, floatArrayOf(1f, 1f, 1f), mask + FloatArray(MASK), 1f)
    }

    /** Begin with the first frame and a point on the object: a rough mark at half strength, and two looks at it. */
    fun mark(frame: FloatArray, x: Int, y: Int) {
        val mark = FloatArray(2 * WIDTH * HEIGHT)
        for (row in 0 until HEIGHT) for (column in 0 until WIDTH) {
            if (hypot(column - x + 0f, row - y + 0f) <= RADIUS) mark[(HEIGHT + row) * WIDTH + column] = 0.5f
        }
        start(frame, reduced(mark))
        val first = reduced(run(frame, floatArrayOf(0f, 0f, 0f), FloatArray(2 * MASK), 0f))
        run(frame, floatArrayOf(0f, 1f, 1f), first + FloatArray(MASK), 1f) // as if it had just been seen
        start(frame, reduced(run(frame, floatArrayOf(0f, 0f, 0f), FloatArray(2 * MASK), 0f)))
    }

    /** The object's probability (WIDTH x HEIGHT) in the next frame. */
    fun step(frame: FloatArray): FloatArray {
        time++
        val write = if (time % 2 == 1) floatArrayOf(0f, 0f, 1f) else floatArrayOf(0f, 1f, 0f)
        val probabilities = run(frame, write, FloatArray(2 * MASK), 0f)
        rating = outputs.getValue("rating").readFloat()[0]
        return probabilities.copyOfRange(WIDTH * HEIGHT, 2 * WIDTH * HEIGHT) // the background comes first
    }

    /** The object, reduced to a mask: the mean of 4 x 4 pixels. */
    private fun reduced(probabilities: FloatArray) =
        FloatArray(MASK) {
            val corner = WIDTH * HEIGHT + 4 * WIDTH * (it / (WIDTH / 4)) + 4 * (it % (WIDTH / 4))
            (0 until 16).sumOf { i -> probabilities[corner + WIDTH * (i / 4) + i % 4].toDouble() }.toFloat() / 16
        }

    private fun run(frame: FloatArray, write: FloatArray, given: FloatArray, useGiven: Float): FloatArray {
        inputs.getValue("frame").writeFloat(frame)
        inputs.getValue("keys").writeFloat(keys)
        inputs.getValue("values").writeFloat(values)
        val nearness = if (time % 2 == 1) floatArrayOf(0f, 1f, 0.25f) else floatArrayOf(0f, 0.25f, 1f)
        inputs.getValue("nearness").writeFloat(nearness)
        inputs.getValue("write").writeFloat(write)
        inputs.getValue("given").writeFloat(given)
        inputs.getValue("use_given").writeFloat(floatArrayOf(useGiven))
        model.run(inputs, outputs)
        keys = outputs.getValue("keys_out").readFloat()
        values = outputs.getValue("values_out").readFloat()
        return outputs.getValue("probabilities").readFloat()
    }

    override fun close() {
        (inputs.values + outputs.values).forEach { it.close() }
        model.close()
    }

    companion object {
        const val WIDTH = 480
        const val HEIGHT = 272
        const val MASK = (WIDTH / 4) * (HEIGHT / 4)
        const val RADIUS = 3 // of a point, 1/100 of the height: so the network knows them
        const val CHANNELS = 64
        const val SLOTS = 3
        const val CELLS = (WIDTH / 16) * (HEIGHT / 16)
    }
}
