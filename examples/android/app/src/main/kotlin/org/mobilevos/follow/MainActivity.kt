package org.mobilevos.follow

import android.Manifest
import android.app.Activity
import android.content.pm.PackageManager
import android.graphics.Bitmap
import android.graphics.Matrix
import android.media.Image
import android.os.Bundle
import android.os.Handler
import android.os.HandlerThread
import android.view.MotionEvent
import android.view.WindowManager
import android.widget.ImageView
import android.widget.Toast

/** Tap on an object to follow it; tap on another one to follow that instead. */
class MainActivity : Activity() {
    private lateinit var view: ImageView
    private var running: Following? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        window.addFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON)
        view = ImageView(this)
        view.contentDescription = "The camera's picture. Tap on an object to follow it."
        view.setOnTouchListener { _, event ->
            if (event.action == MotionEvent.ACTION_UP) {
                view.performClick()
                tap(event.x, event.y)
            }
            true
        }
        setContentView(view)
        if (!allowed()) requestPermissions(arrayOf(Manifest.permission.CAMERA), 0)
    }

    override fun onResume() {
        super.onResume()
        if (allowed()) running = Following()
    }

    override fun onPause() {
        running?.close()
        running = null
        super.onPause()
    }

    override fun onRequestPermissionsResult(code: Int, permissions: Array<String>, results: IntArray) {
        if (!allowed()) say("Without the camera there is nothing to follow.") // else onResume has come, or comes
    }

    private fun allowed() = checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED

    private fun say(text: String) = runOnUiThread { Toast.makeText(this, text, Toast.LENGTH_LONG).show() }

    /** A point of the screen as one of the picture. */
    private fun tap(x: Float, y: Float) {
        val back = Matrix()
        val point = floatArrayOf(x, y)
        if (!view.imageMatrix.invert(back)) return
        back.mapPoints(point)
        if (point[0] in 0f..ObjectFollower.WIDTH - 1f && point[1] in 0f..ObjectFollower.HEIGHT - 1f) {
            running?.tap(point[0].toInt(), point[1].toInt())
        }
    }

    /** Camera and network, on one thread of their own: the next picture is taken when the last one is done. */
    private inner class Following : AutoCloseable {
        private val thread = HandlerThread("follow").apply { start() }
        private val handler = Handler(thread.looper)
        private val pixels = Pixels(ObjectFollower.WIDTH, ObjectFollower.HEIGHT)
        private var follower: ObjectFollower? = null
        private var camera: Camera? = null
        private var tapped: Pair<Int, Int>? = null
        private var marked = false

        init {
            @Suppress("DEPRECATION") // its successor came with Android 11
            val display = windowManager.defaultDisplay
            handler.post {
                try {
                    follower = ObjectFollower(assets)
                    val size = ObjectFollower.WIDTH to ObjectFollower.HEIGHT
                    val onPicture = { image: Image -> onPicture(image, 90 * display.rotation) }
                    camera = Camera(this@MainActivity, handler, size, onPicture, ::say) { thread.quit() }
                    camera?.open()
                } catch (error: Exception) {
                    say("This cannot start: ${error.message}")
                }
            }
        }

        fun tap(x: Int, y: Int) = handler.post { tapped = x to y }

        private fun onPicture(image: Image, rotation: Int) {
            val follower = follower ?: return
            val (y, u, v) = image.planes.map { Plane(it.buffer, it.rowStride, it.pixelStride) }
            val turned = (camera!!.orientation - rotation + 360) % 360 == 180 // in landscape it is 0 or 180
            pixels.take(y, u, v, image.width, image.height, turned)
            tapped?.let { (column, row) ->
                follower.mark(pixels.rgb, column, row)
                marked = true
                tapped = null
            }
            show(pixels.overlaid(if (marked) follower.step(pixels.rgb) else null))
        }

        private fun show(colors: IntArray) {
            val bitmap = Bitmap.createBitmap(colors, pixels.width, pixels.height, Bitmap.Config.ARGB_8888)
            runOnUiThread { view.setImageBitmap(bitmap) }
        }

        override fun close() {
            handler.post {
                follower?.close()
                follower = null
                camera?.close() ?: thread.quit()
            }
        }
    }
}
