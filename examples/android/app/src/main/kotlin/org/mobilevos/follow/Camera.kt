package org.mobilevos.follow

import android.annotation.SuppressLint
import android.content.Context
import android.graphics.ImageFormat
import android.hardware.camera2.CameraCaptureSession
import android.hardware.camera2.CameraCharacteristics
import android.hardware.camera2.CameraDevice
import android.hardware.camera2.CameraManager
import android.hardware.camera2.params.OutputConfiguration
import android.hardware.camera2.params.SessionConfiguration
import android.media.Image
import android.media.ImageReader
import android.os.Handler

/** The camera at the back. Pictures come on the handler's thread, the latest one whenever it is free. */
class Camera(
    context: Context,
    private val handler: Handler,
    least: Pair<Int, Int>,
    private val onPicture: (Image) -> Unit,
    private val onFailure: (String) -> Unit,
    private val onClosed: () -> Unit,
) : AutoCloseable {
    private val manager = context.getSystemService(CameraManager::class.java)
    private val id =
        manager.cameraIdList.firstOrNull {
            manager.getCameraCharacteristics(it).get(CameraCharacteristics.LENS_FACING) ==
                CameraCharacteristics.LENS_FACING_BACK
        } ?: manager.cameraIdList.first()
    private val about = manager.getCameraCharacteristics(id)
    private val reader: ImageReader
    private var device: CameraDevice? = null
    private var opening = false
    private var closed = false

    /** How far the sensor is turned against the device's own upright, clockwise. */
    val orientation: Int = about.get(CameraCharacteristics.SENSOR_ORIENTATION) ?: 0

    init {
        val (width, height) = least
        val streams = about.get(CameraCharacteristics.SCALER_STREAM_CONFIGURATION_MAP)!!
        val sizes = streams.getOutputSizes(ImageFormat.YUV_420_888)
        val enough = sizes.filter { it.width >= width && it.height >= height }.ifEmpty { sizes.toList() }
        val size = enough.minByOrNull { it.width * it.height }!!
        reader = ImageReader.newInstance(size.width, size.height, ImageFormat.YUV_420_888, 2)
        reader.setOnImageAvailableListener({ from -> from.acquireLatestImage()?.use(onPicture) }, handler)
    }

    @SuppressLint("MissingPermission") // MainActivity has asked for it
    fun open() {
        manager.openCamera(
            id,
            object : CameraDevice.StateCallback() {
                override fun onOpened(camera: CameraDevice) {
                    if (closed) return camera.close()
                    device = camera
                    start(camera)
                }

                override fun onDisconnected(camera: CameraDevice) = camera.close()

                override fun onClosed(camera: CameraDevice) = this@Camera.onClosed()

                override fun onError(camera: CameraDevice, error: Int) {
                    camera.close()
                    onFailure("the camera failed with code $error")
                }
            },
            handler,
        )
        opening = true
    }

    private fun start(camera: CameraDevice) {
        val request = camera.createCaptureRequest(CameraDevice.TEMPLATE_PREVIEW)
        request.addTarget(reader.surface)
        val states =
            object : CameraCaptureSession.StateCallback() {
                override fun onConfigured(session: CameraCaptureSession) {
                    if (!closed) session.setRepeatingRequest(request.build(), null, handler)
                }

                override fun onConfigureFailed(session: CameraCaptureSession) = onFailure("the camera cannot be set up")
            }
        val outputs = listOf(OutputConfiguration(reader.surface))
        camera.createCaptureSession(
            SessionConfiguration(SessionConfiguration.SESSION_REGULAR, outputs, { handler.post(it) }, states),
        )
    }

    /** On the handler's thread, like everything else. A camera that is being opened is closed as soon as it is open. */
    override fun close() {
        closed = true
        device?.close()
        reader.close()
        if (!opening) onClosed()
    }
}
