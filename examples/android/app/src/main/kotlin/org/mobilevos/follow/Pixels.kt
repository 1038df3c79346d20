package org.mobilevos.follow

import java.nio.ByteBuffer

/** One of the three planes of a YUV 4:2:0 picture, as the camera hands them out. */
class Plane(val bytes: ByteBuffer, val rowStride: Int, val pixelStride: Int) {
    operator fun get(x: Int, y: Int): Int = bytes.get(y * rowStride + x * pixelStride).toInt() and 0xff
}

/** A frame twice: for the network, RGB 0..255 row by row, and for the screen. */
class Pixels(val width: Int, val height: Int) {
    val rgb = FloatArray(3 * width * height)
    val argb = IntArray(width * height)

    /** Takes the middle of a camera's picture, as much of it as has this shape; `turned` is upside down. */
    fun take(y: Plane, u: Plane, v: Plane, fromWidth: Int, fromHeight: Int, turned: Boolean) {
        val scale = minOf(fromWidth.toFloat() / width, fromHeight.toFloat() / height)
        val left = (fromWidth - scale * width) / 2
        val top = (fromHeight - scale * height) / 2
        for (row in 0 until height) {
            val sy = (top + scale * (row + 0.5f)).toInt()
            for (column in 0 until width) {
                val sx = (left + scale * (column + 0.5f)).toInt()
                val place = row * width + column
                put(if (turned) argb.size - 1 - place else place, y[sx, sy], u[sx / 2, sy / 2], v[sx / 2, sy / 2])
            }
        }
    }

    private fun put(place: Int, y: Int, u: Int, v: Int) {
        val red = (y + 1.402f * (v - 128)).coerceIn(0f, 255f)
        val green = (y - 0.344f * (u - 128) - 0.714f * (v - 128)).coerceIn(0f, 255f)
        val blue = (y + 1.772f * (u - 128)).coerceIn(0f, 255f)
        rgb[3 * place] = red
        rgb[3 * place + 1] = green
        rgb[3 * place + 2] = blue
        argb[place] = color(red, green, blue)
    }

    /** The picture with the object tinted. */
    fun overlaid(probabilities: FloatArray?): IntArray {
        val shown = argb.copyOf()
        probabilities?.forEachIndexed { i, probability ->
            if (probability > 0.5f) {
                shown[i] = color(0.5f * rgb[3 * i], 0.5f * rgb[3 * i + 1] + 100, 0.5f * rgb[3 * i + 2] + 60)
            }
        }
        return shown
    }

    private fun color(red: Float, green: Float, blue: Float): Int =
        (0xff shl 24) or (red.toInt() shl 16) or (green.toInt() shl 8) or blue.toInt()
}
